// How much is due and has not started, as far as a worker knows it without asking the store. Rule [I6] of docs/spec/meter.md.
import type { Paused } from '../pool/control.ts'
import type { Lane } from '../pool/entry.ts'
import type { LaneBacklog, TicksSight, WorkerSight } from '../pool/work-meter.ts'

export interface Overdue {
  /** Null: it is not known. */
  count: number | null
  /** There may be more; the count is no less than 1 then. */
  atLeast: boolean
  /** How long the oldest of them has been due; 0: none is. Null: it is not known. */
  oldestMs: number | null
  /** Why something is not known; null: all is. */
  unknown: string | null
}

export interface Overdues {
  pool: Overdue
  lanes: Readonly<Record<Lane, Overdue>>
}

/** What of a backlog counts, of a lane or of all. */
type Known = Omit<LaneBacklog, 'lane'>

export function overdueOf(worker: WorkerSight): Overdues {
  const blind = whyBlind(worker)
  if (blind !== null) {
    const overdue = notKnown(blind)
    return { pool: overdue, lanes: byLane(() => overdue) }
  }
  const backlog = worker.backlog()
  const lanes = byLane((lane) => {
    const known = backlog.find((each) => each.lane === lane)
    return judge(worker, known ?? { waiting: 0, isMore: false, oldestDueAt: null })
  })
  return { pool: judge(worker, allOf(worker, backlog)), lanes }
}

function byLane(of: (lane: Lane) => Overdue): Overdues['lanes'] {
  return { fanout: of('fanout'), normal: of('normal'), bulk: of('bulk') }
}

function whyBlind({ mayTake, isFailing, isSteered }: WorkerSight): string | null {
  if (!mayTake) return 'this member holds no partition of the pool, or cannot trust that it does'
  if (isFailing) return 'the last look at the store failed'
  return isSteered ? null : 'its pause and limits have not been read yet'
}

function allOf(worker: WorkerSight, lanes: readonly LaneBacklog[]): Known {
  const { heardDueAt } = worker
  // Nothing is taken meanwhile, so what a pulse told is due still; of which lane, it did not tell.
  const isHeard = worker.paused !== null && heardDueAt !== null && heardDueAt <= worker.now()
  const dueAts = lanes.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
  if (isHeard) dueAts.push(heardDueAt)
  return {
    waiting: lanes.reduce((sum, { waiting }) => sum + waiting, 0),
    isMore: lanes.some(({ isMore }) => isMore),
    oldestDueAt: dueAts.length === 0 ? null : Math.min(...dueAts),
  }
}

function judge(worker: WorkerSight, { waiting, isMore, oldestDueAt }: Known): Overdue {
  const unknown = worker.paused === null ? null : pausedBy(worker.paused)
  if (oldestDueAt !== null) {
    const atLeast = isMore || unknown !== null
    const oldestMs = Math.max(0, worker.now() - oldestDueAt)
    // What was passed over is not counted, but is there.
    return { count: Math.max(1, waiting), atLeast, oldestMs, unknown }
  }
  if (unknown !== null) return notKnown(unknown)
  if (isMore) return notKnown('more may be due than was looked at')
  return { count: 0, atLeast: false, oldestMs: 0, unknown: null }
}

/** Of ticks that are paused: what a pulse told is due still. */
export function overdueTicks({ heardDueAt, now }: TicksSight, paused: Paused): Overdue {
  const unknown = pausedBy(paused)
  const oldestMs = heardDueAt === null ? -1 : now - heardDueAt
  return oldestMs < 0 ? notKnown(unknown) : { count: 1, atLeast: true, oldestMs, unknown }
}

/** Nobody looks what is due meanwhile. */
export function pausedBy({ by }: Pick<Paused, 'by'>): string {
  return by === null ? 'paused' : `paused by ${by}`
}

function notKnown(unknown: string): Overdue {
  return { count: null, atLeast: false, oldestMs: null, unknown }
}
