// What a reschedule does to an entry. Pure; rule [C2] of docs/spec/pool.md.
import { type Entry, type Mode, stateOf } from './entry.ts'
import type { Put, PutAnswer } from './merge.ts'

export interface RescheduleContext {
  mode: Mode
  /** The store's clock, read under the lock. */
  now: number
  /** Whether the slot that is moved to has fired and is remembered. */
  fired: boolean
  /** Whether another live entry stands in the slot that is moved to. */
  taken: boolean
  /** Until when the key rests after its last run; 0: it does not. */
  restsUntil: number
  newTurn: () => number
}

export type Rescheduled =
  | { kind: 'absent' }
  /** Too late: nothing changes. */
  | { kind: 'due' }
  /** Another entry stands in the new slot: nothing changes. */
  | { kind: 'exists' }
  /** The entry goes, and this put comes. */
  | { kind: 'anew'; put: Put }
  /** The entry stays, and becomes this one. */
  | { kind: 'moved'; entry: Entry; answer: PutAnswer }

export function reschedule(existing: Entry | undefined, at: number, context: RescheduleContext): Rescheduled {
  if (existing === undefined) return { kind: 'absent' }
  // Removed first, the tick would be lost: a put on a fired slot is kept, and nothing runs for it.
  if (stateOf(existing, context.now) === 'due' || context.fired) return { kind: 'due' }
  if (context.taken) return { kind: 'exists' }
  if (context.mode === 'one' && existing.state === 'live') return moveNext(existing, at, context)
  const { key, lane, group, next } = existing
  const payload = next.payload ?? undefined
  return { kind: 'anew', put: { key, at, payload, lane, group, onConflict: 'earliest' } }
}

/** Moves the next run with every put that it stands for; a run after it stays. */
function moveNext(entry: Entry, at: number, { now, restsUntil, newTurn }: RescheduleContext): Rescheduled {
  const next = { ...entry.next, dueAt: Math.max(at, now, restsUntil) }
  const answer = { result: 'replaced', dueAt: next.dueAt, tally: next.tally } as const
  return { kind: 'moved', entry: { ...entry, next, turn: newTurn() }, answer }
}
