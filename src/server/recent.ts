// An answer that is costly to find, found at most once a second however often it is asked for.
import type { Clock } from '../clock.ts'

const FRESH_MS = 1000

export class Recent<Value> {
  readonly #clock: Clock
  readonly #find: () => Promise<Value>
  #found: { at: number; value: Promise<Value> } | null = null

  constructor(clock: Clock, find: () => Promise<Value>) {
    this.#clock = clock
    this.#find = find
  }

  get(): Promise<Value> {
    const now = this.#clock.mono()
    if (this.#found === null || now - this.#found.at >= FRESH_MS) {
      this.#found = { at: now, value: this.#find() }
      this.#found.value.catch(() => (this.#found = null))
    }
    return this.#found.value
  }
}
