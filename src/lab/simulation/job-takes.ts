// How much one worker takes: as many runs as it can start now, and a few more, beside those that a take must read again
// since they are in flight. Rule [X1] of docs/spec/work.md.
import type { Lane } from '../../pool/entry.ts'
import type { TakeRequest } from '../../pool/store.ts'

/** What a take may be for: no more than this can start soon. */
export interface Room {
  /** How many handlers are free. */
  free: number
  /** How much the limits of the pool leave. [L16] */
  most: number
  /** How many runs of the lane are in flight at most. */
  inFlight: number
}

/** Looks that sent no take are not seen from outside, and count for what is taken ahead: so much more is allowed. */
const UNSEEN = 2

interface Look {
  at: number
  ended: number
  ahead: number
}

export class JobTakes {
  #ended = 0
  /** The last looks: takes of several lanes that are sent at once are one. */
  #last: Look = { at: -Infinity, ended: 0, ahead: 0 }
  /** How many runs the last take of each lane was answered. */
  readonly #answered = new Map<Lane, number>()

  /** A handler has ended. */
  ended(): void {
    this.#ended += 1
  }

  /** A take is sent; answers what is wrong, or null. */
  sent({ lane, limit }: TakeRequest, { free, most, inFlight }: Room, now: number): string | null {
    if (now > this.#last.at) {
      const soon = 2 * Math.max(this.#ended, this.#last.ended)
      this.#last = { at: now, ended: this.#ended, ahead: Math.max(soon, this.#last.ahead / 2) }
      this.#ended = 0
    }
    const ahead = Math.max(this.#last.ahead, 2 * this.#ended)
    // What was met that is in flight, or had no room, is read again beside the others; twice where nothing else was found.
    const again = inFlight + 2 * (this.#answered.get(lane) ?? 0)
    const bound = Math.min(Math.max(1, free + UNSEEN * ahead + UNSEEN), most) + again
    return limit <= bound ? null : `[X1] takes ${limit} runs, and could start ${bound - again} soon`
  }

  answered(lane: Lane, runs: number): void {
    this.#answered.set(lane, runs)
  }
}
