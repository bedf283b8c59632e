// The delay before something that failed is tried again: twice as long each time, up to a bound, and never the same for
// two processes that failed together.
import type { Clock } from './clock.ts'

const FIRST_MS = 50
const LONGEST_MS = 2000

export class RetryDelay {
  readonly #clock: Clock
  #nextMs = FIRST_MS

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long the next delay is, at least; at most twice that. */
  get nextMs(): number {
    return this.#nextMs
  }

  /** It succeeded: the next delay is the first again. */
  reset(): void {
    this.#nextMs = FIRST_MS
  }

  /** Waits for the delay, or until the signal fires. */
  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs * (1 + this.#clock.random())
    this.#nextMs = Math.min(this.#nextMs * 2, LONGEST_MS)
    await this.#clock.sleep(ms, signal)
  }
}
