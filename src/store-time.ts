// The store's times on the clock of this process, which may be wrong: how far the store is ahead is known from what it
// answers. Only as far as an answer demands is the old belief left, so that clocks that agree stay exactly so.
import type { Clock } from './clock.ts'

/** Both clocks are read in whole milliseconds. */
const GRAIN_MS = 1

export class StoreTime {
  readonly #clock: Clock
  #aheadMs = 0
  /** When the latest question was sent whose answer was heard. */
  #heardOf = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The store answered that its clock stood at `now`, at some moment since `sentAt` by this process's clock. */
  hear(now: number, sentAt: number): void {
    // One that was overtaken may be from before a clock was set. If this process's own was, there is no order to go by.
    if (sentAt < this.#heardOf && this.#heardOf <= this.#clock.now()) return
    this.#heardOf = sentAt
    const least = now - this.#clock.now() - GRAIN_MS
    const most = now - sentAt + GRAIN_MS
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, least), most)
  }

  /** What the store's clock shows now, as far as it is known. */
  now(): number {
    return this.#clock.now() + this.#aheadMs
  }

  /** What the clock of this process shows when the store's shows `at`. */
  toOwn(at: number): number {
    return at - this.#aheadMs
  }
}
