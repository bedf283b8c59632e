// How many times something is yet to be done another way, for each pool.

export class Countdown {
  readonly #left = new Map<number, number>()

  /** So many times, from the next on. */
  begin(pool: number, times: number): void {
    this.#left.set(pool, times)
  }

  /** Whether it is yet to be done so; this is one of the times. */
  counts(pool: number): boolean {
    const left = this.#left.get(pool) ?? 0
    if (left > 0) this.#left.set(pool, left - 1)
    return left > 0
  }
}
