// Which lane goes next: by weight, and each that has something in its turn. Rule [X6] of docs/spec/work.md.
import { LANES, type Lane } from './entry.ts'

export const WEIGHTS: Readonly<Record<Lane, number>> = { fanout: 6, normal: 3, bulk: 1 }

/** Smooth weighted turns: a lane gains its weight whenever it could go, and who goes pays what all gained. */
export class Turns {
  readonly #credit: Record<Lane, number> = { fanout: 0, normal: 0, bulk: 0 }

  /** The lane that goes now, among those that have something; null: none has. */
  next(has: (lane: Lane) => boolean): Lane | null {
    let chosen: Lane | null = null
    let total = 0
    for (const lane of LANES) {
      // Who has nothing saves nothing up.
      if (!has(lane)) {
        this.#credit[lane] = 0
        continue
      }
      this.#credit[lane] += WEIGHTS[lane]
      total += WEIGHTS[lane]
      if (chosen === null || this.#credit[lane] > this.#credit[chosen]) chosen = lane
    }
    if (chosen !== null) this.#credit[chosen] -= total
    return chosen
  }
}
