// Lists of thousands that arrive together are read and answered one per turn of the event loop, so that what is due in
// between is not late by all of them.
import type { Clock } from '../clock.ts'

export class OwnTurn {
  readonly #clock: Clock
  #last: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves in a turn of the event loop that no other caller gets. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => this.#clock.turn(resolve)))
    return this.#last
  }
}
