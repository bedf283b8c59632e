// What happened lately: durations of the last ten to twenty seconds, without a timer.
import type { Clock } from '../clock.ts'
import { Hdr } from './hdr.ts'

const HALF_MS = 10_000

export class Lately {
  readonly #clock: Clock
  #now = new Hdr()
  #before = new Hdr()
  #since: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = clock.mono()
  }

  record(ms: number): void {
    this.#turn()
    this.#now.record(ms)
  }

  /** Everything that is kept; a copy. */
  all(): Hdr {
    this.#turn()
    const all = new Hdr()
    all.addAll(this.#before)
    all.addAll(this.#now)
    return all
  }

  #turn(): void {
    const passed = this.#clock.mono() - this.#since
    if (passed < HALF_MS) return
    const last = this.#before
    // Nothing for so long: what is kept is all too old.
    if (passed >= 2 * HALF_MS) this.#now.clear()
    this.#before = this.#now
    last.clear()
    this.#now = last
    this.#since = this.#clock.mono()
  }
}
