// Runs and members that never were, for tests of those who judge them.
import { type Made, UNDER_WAY } from '../../../src/lab/simulation/made.ts'
import type { TakenRun } from '../../../src/pool/entry.ts'
import { type AbortCause, RunAborted } from '../../../src/pool/run.ts'
import { contextOf } from './context-of.ts'

export function takenOf(turn: number, given: Partial<TakenRun> = {}): TakenRun {
  const run = { key: `k${turn}`, group: 'g', slot: null, partition: 1, turn, dueAt: 0, putAt: 0 }
  return { ...run, seen: 1, payload: null, attempt: 0, crashes: 0, ...given }
}

/** A run under epoch 1, which was aborted or not. */
export function madeOf(given: Partial<Made> = {}, why: AbortCause | null = null): Made {
  const aborted = AbortSignal.abort(why === null ? undefined : new RunAborted(why))
  const context = contextOf({ partition: 1, epoch: 1 })
  return {
    taken: takenOf(1),
    epoch: 1,
    context: why === null ? context : { ...context, signal: aborted },
    life: { name: 'm1', isDead: false },
    startedAt: 0,
    ...UNDER_WAY,
    ...given,
  }
}
