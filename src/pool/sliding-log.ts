// How many starts count in a span of time that slides. Pure: times are given, and never go back. Kept in steps of a
// thousandth of the span, each of which counts until its end is a span ago: never too few, and bounded. [L14]

interface Step {
  endsAt: number
  count: number
}

export class SlidingLog {
  readonly perMs: number
  readonly #stepMs: number
  #steps: Step[] = []
  #first = 0
  #used = 0

  constructor(perMs: number) {
    this.perMs = perMs
    this.#stepMs = Math.max(1, perMs / 1000)
  }

  /** How many count now. */
  used(now: number): number {
    while (this.#first < this.#steps.length) {
      const { endsAt, count } = this.#steps[this.#first] as Step
      if (endsAt > now) break
      this.#used -= count
      this.#first += 1
    }
    if (this.#first > 32 && this.#first * 2 > this.#steps.length) {
      this.#steps = this.#steps.slice(this.#first)
      this.#first = 0
    }
    return this.#used
  }

  add(now: number, count = 1): void {
    const endsAt = (Math.floor(now / this.#stepMs) + 1) * this.#stepMs + this.perMs
    const last = this.#steps.at(-1)
    if (last !== undefined && this.#first < this.#steps.length && last.endsAt >= endsAt) last.count += count
    else this.#steps.push({ endsAt, count })
    this.#used += count
  }

  /** When fewer than `size` count: now if it is past, never if it is Infinity. */
  freeAt(size: number): number {
    let used = this.#used
    for (let nth = this.#first; used >= size && nth < this.#steps.length; nth += 1) {
      const { endsAt, count } = this.#steps[nth] as Step
      used -= count
      if (used < size) return endsAt
    }
    return used < size ? 0 : Infinity
  }
}
