// Who wants to be told of something. What a listener throws, or its promise rejects with, is its own fault: it is
// reported, the others are told all the same, and whoever tells goes on.

type Listener<Told extends unknown[]> = (...told: Told) => unknown

export class Listeners<Told extends unknown[] = []> {
  readonly #listeners = new Set<Listener<Told>>()
  readonly #report: (error: unknown) => void

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  /** Tells it from now on, until the returned function is called. */
  add(listener: Listener<Told>): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(...told: Told): void {
    for (const listener of this.#listeners) {
      try {
        const answer = listener(...told)
        if (answer instanceof Promise) answer.catch(this.#report)
      } catch (error) {
        this.#report(error)
      }
    }
  }

  clear(): void {
    this.#listeners.clear()
  }
}
