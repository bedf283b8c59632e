// What the history of one entry must have led to, by its answers alone. A second, smaller writing of the rules:
// it shares no code with merge.ts and settle.ts, so that it does not share their mistakes.
import type { PutAnswer } from '../pool/merge.ts'
import type { Settlement } from '../pool/settle.ts'

export interface ModelRun {
  dueAt: number
  tally: number
  /** The lowest dueAt that was answered to a put in this tally. */
  lowest: number
}

export interface ModelEntry {
  next: ModelRun
  after: ModelRun | null
  failed: boolean
  dead: boolean
  /** The turn that the last take gave; null: planned anew since. */
  turn: number | null
}

export function planEntry(answer: PutAnswer): ModelEntry {
  return { next: planRun(answer), after: null, failed: false, dead: false, turn: null }
}

function planRun({ dueAt, tally }: PutAnswer): ModelRun {
  return { dueAt, tally, lowest: dueAt }
}

/** Puts on an entry that lives; answers the tally that the store should have answered. */
export function modelPut(
  entry: ModelEntry,
  put: { at: number | null; now: number },
  answer: PutAnswer,
): number {
  const isWaiting = entry.next.dueAt > put.now && !entry.failed
  const isLater = (put.at ?? put.now) > put.now
  if (isWaiting && answer.result === 'replaced') {
    entry.next = planRun(answer)
    entry.turn = null
    return 1
  }
  if (isWaiting || !isLater) return join(entry.next, answer)
  if (entry.after === null || answer.result === 'replaced') {
    entry.after = planRun(answer)
    return 1
  }
  return join(entry.after, answer)
}

function join(run: ModelRun, answer: PutAnswer): number {
  run.tally += 1
  run.dueAt = answer.dueAt
  run.lowest = Math.min(run.lowest, answer.dueAt)
  return run.tally
}

/** Moves the next run whole to another time; answers the tally that the store should have answered. */
export function modelMove(entry: ModelEntry, { dueAt }: PutAnswer): number {
  entry.next = { dueAt, tally: entry.next.tally, lowest: dueAt }
  entry.turn = null
  return entry.next.tally
}

/** Settles the next run; answers false when nothing of the entry is left. */
export function modelSettle(
  entry: ModelEntry,
  settlement: Pick<Settlement, 'seen' | 'outcome'>,
  now: number,
): boolean {
  const { outcome, seen } = settlement
  entry.turn = null
  if (outcome.kind === 'cancel') return false
  if (outcome.kind === 'retry') {
    entry.next.dueAt = Math.max(now, outcome.dueAt)
    entry.failed = true
    return true
  }
  const rest = entry.next.tally - seen
  const again = outcome.kind === 'again' && rest <= 0 ? planAgain(outcome.dueAt, now) : null
  const after = entry.after === null ? null : { ...entry.after, dueAt: Math.max(now, entry.after.dueAt) }
  const since = rest > 0 ? { dueAt: now, tally: rest, lowest: entry.next.lowest } : null
  const planned = [since, after, again].filter((run) => run !== null).toSorted((a, b) => a.dueAt - b.dueAt)
  const [next, then] = planned
  entry.failed = false
  if (next !== undefined) {
    entry.next = next
    entry.after = then ?? null
    return true
  }
  entry.dead = outcome.kind === 'dead'
  entry.next.tally = 0
  return entry.dead
}

function planAgain(dueAt: number, now: number): ModelRun {
  const at = Math.max(now, dueAt)
  return { dueAt: at, tally: 0, lowest: at }
}

export function tallyOf(entry: ModelEntry): number {
  return entry.next.tally + (entry.after?.tally ?? 0)
}
