// The keys of a throttled pool that rest after a run, and until when. Rules [M11] to [M13] of docs/spec/pool.md.
import { keepMap } from './snapshots.ts'

export class RestingKeys {
  readonly #until = new Map<string, number>()
  /** 0: nothing rests. */
  throttleMs = 0

  /** Until when the key rests; 0: it does not. */
  of(name: string): number {
    return this.throttleMs === 0 ? 0 : (this.#until.get(name) ?? 0)
  }

  /** Takes what a settle says; null leaves it. */
  keep(name: string, until: number | null, now: number): void {
    if (until === null) return
    this.#until.delete(name)
    this.#until.set(name, until)
    // In the order of setting, so that the first that still rests has none before it that does not.
    for (const [rested, end] of this.#until) {
      if (end > now) return
      this.#until.delete(rested)
    }
  }

  forget(name: string): void {
    this.#until.delete(name)
  }

  snapshot(): () => void {
    return keepMap(this.#until)
  }
}
