// What the next take of a lane must look for, as it is known from outside: runs that were let go or passed over lie behind
// the cursor, unless it was lowered, and so may whatever a sweep is for. Rules [X8] and [X9] of docs/spec/work.md.
import type { Lane, TakenRun } from '../../pool/entry.ts'
import type { Taken, TakeRequest } from '../../pool/store.ts'
import { type Made, turnOf } from './made.ts'

/** As docs/spec/work.md says, and a little more, since a member knows the store's time only nearly. */
const SWEEP_EVERY_MS = 2000
const LOOK_BACK_MS = 10_000

interface Debt {
  lane: Lane
  taken: TakenRun
  /** Is looked for again when this run is over. */
  by: Made
}

/** A moment: by the monotonic clock, and by the store's when that has been right for a while, else null. */
export interface Moment {
  mono: number
  store: number | null
}

export class Owed {
  #debts: Debt[] = []
  /** The store's time at the last answered take that was a sweep, by lane. */
  readonly #sweptAt = new Map<Lane, number>()

  /** A run is due as before when another is over: that was in its way, or is itself, and is let go. */
  add(debt: Debt): void {
    this.over(debt.taken)
    this.#debts.push(debt)
  }

  /** A run has started, or is known to be gone: nothing needs to look for it. */
  over(run: TakenRun): void {
    this.#debts = this.#debts.filter(({ taken }) => turnOf(taken) !== turnOf(run))
  }

  /** An entry was cancelled, or all of a key: nothing of it may be there. */
  cancelled({ key, slot }: { key: string; slot?: number | null }): void {
    this.#debts = this.#debts.filter(
      ({ taken }) => taken.key !== key || (slot !== undefined && taken.slot !== slot),
    )
  }

  /**
   * A take is sent; answers what is wrong with it, and what is to be called when it was answered. `mayWait` tells whether a
   * run may still wait behind another of its key, or for a handler: then nothing needs to look for it. [X20]
   */
  sent(
    request: TakeRequest,
    now: Moment,
    mayWait: (key: string) => boolean,
  ): { wrong: string[]; answered: (taken: Taken) => void } {
    const { lane, from } = request
    const asked = this.#debts.filter(
      (debt) => debt.lane === lane && request.partitions?.includes(debt.taken.partition) === true,
    )
    // What came to its end in this very moment the worker may know already, or not yet.
    const missed = asked.filter(
      ({ taken, by }) =>
        from > taken.dueAt && by.overAt < now.mono && (by.taken === taken || !mayWait(taken.key)),
    )
    const looked = asked.filter(({ taken }) => from <= taken.dueAt)
    const due = new Set(looked.filter(({ by }) => by.overAt <= now.mono))
    const sweptAt = this.#sweptAt.get(lane)
    const isSweep = sweptAt === undefined || from <= sweptAt - LOOK_BACK_MS
    const isLate = !isSweep && now.store !== null && now.store - sweptAt > SWEEP_EVERY_MS
    return {
      wrong: [
        ...missed.map(({ taken }) => `[X8] looks from ${from} on, and ${taken.key} is due at ${taken.dueAt}`),
        ...(isLate ? [`[X9] looks back to ${from} alone, and its last sweep was at ${sweptAt}`] : []),
      ],
      answered: (taken) => {
        const found = new Set(taken.runs.map(turnOf))
        const last = taken.runs.length < request.limit ? Infinity : (taken.runs.at(-1)?.dueAt ?? Infinity)
        const isGone = (run: TakenRun): boolean => run.dueAt < last && !found.has(turnOf(run))
        for (const debt of looked) if (due.has(debt) || isGone(debt.taken)) this.over(debt.taken)
        if (isSweep) this.#sweptAt.set(lane, taken.now)
      },
    }
  }
}
