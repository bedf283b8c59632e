// How much is due and has not started, as far as a worker knows it without asking the store. Rule [I6] of docs/spec/meter.md.
import type { WorkerSight } from '../pool/work-meter.ts'

export interface Overdue {
  /** Null: it is not known. */
  count: number | null
  /** There may be more. */
  atLeast: boolean
  /** How long the oldest of them has been due; 0: none is. Null: it is not known. */
  oldestMs: number | null
  /** Why something is not known; null: all is. */
  unknown: string | null
}

export function overdueOf(worker: WorkerSight): Overdue {
  if (!worker.mayTake)
    return notKnown('this member holds no partition of the pool, or cannot trust that it does')
  if (worker.isFailing) return notKnown('the last look at the store failed')
  const lanes = worker.backlog()
  const count = lanes.reduce((sum, { waiting }) => sum + waiting, 0)
  const atLeast = lanes.some(({ isMore }) => isMore)
  const oldest = lanes.reduce((least, { oldestDueAt }) => Math.min(least, oldestDueAt ?? Infinity), Infinity)
  if (oldest < Infinity) {
    return { count, atLeast, oldestMs: Math.max(0, worker.now() - oldest), unknown: null }
  }
  if (!atLeast) return { count: 0, atLeast, oldestMs: 0, unknown: null }
  return { count, atLeast, oldestMs: null, unknown: 'more is due than was looked at' }
}

function notKnown(unknown: string): Overdue {
  return { count: null, atLeast: false, oldestMs: null, unknown }
}
