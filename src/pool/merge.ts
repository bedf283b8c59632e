// The put table: what one put does to an entry. Pure; every store calls it or is compared with it.
// Rules [M1] to [M9] of docs/spec/pool.md.
import { type Entry, type Lane, type Mode, type OnConflict, type PlannedRun, stateOf } from './entry.ts'

export interface Put {
  key: string
  /** Milliseconds; null: now. */
  at: number | null
  /** JSON text; undefined: none, and a payload that waits is left as it is. */
  payload: string | undefined
  lane: Lane
  group: string
  onConflict: OnConflict
}

export type PutResult = 'created' | 'merged' | 'replaced' | 'kept'

export interface PutAnswer {
  result: PutResult
  /** When the run that holds this put is due; of a kept put: when the entry's next run is. */
  dueAt: number
  /** How many puts that run stands for. */
  tally: number
}

export interface MergeContext {
  mode: Mode
  /** The store's clock, read under the lock. */
  now: number
  partition: number
  /** Whether the slot has fired and is remembered. */
  fired: boolean
  /** A number that was never used in this partition. */
  newTurn: () => number
}

export interface Merged {
  /** The entry as it is now; what was given, the same object or nothing, when nothing changed. */
  entry: Entry | undefined
  answer: PutAnswer
}

export function merge(existing: Entry | undefined, put: Put, context: MergeContext): Merged {
  if (existing === undefined || existing.state === 'dead') {
    return context.fired ? keptFired(existing, put, context) : create(put, context)
  }
  if (context.mode === 'each' || put.onConflict === 'keep') return kept(existing)
  const state = stateOf(existing, context.now)
  if (state === 'waiting') return mergeWaiting(existing, put, context)
  return (put.at ?? context.now) <= context.now
    ? joinNext(existing, put, context)
    : mergeAfter(existing, put, context)
}

/** The slot that a put speaks of in this mode. */
export function slotOf(put: Put, context: { mode: Mode; now: number }): number | null {
  return context.mode === 'each' ? (put.at ?? context.now) : null
}

function create(put: Put, context: MergeContext): Merged {
  const next = { dueAt: dueAtOf(put, context.now), tally: 1, payload: put.payload ?? null }
  const entry: Entry = {
    key: put.key,
    slot: slotOf(put, context),
    group: put.group,
    partition: context.partition,
    turn: context.newTurn(),
    lane: put.lane,
    next,
    after: null,
    attempt: 0,
    crashes: 0,
    state: 'live',
    failing: false,
    enqueuedAt: context.now,
    putAt: context.now,
  }
  return { entry, answer: { result: 'created', dueAt: next.dueAt, tally: 1 } }
}

function kept(entry: Entry): Merged {
  return { entry, answer: { result: 'kept', dueAt: entry.next.dueAt, tally: entry.next.tally } }
}

/** A slot that has fired is kept for as long as it is remembered: no run holds the put. [T5] */
function keptFired(existing: Entry | undefined, put: Put, context: MergeContext): Merged {
  return { entry: existing, answer: { result: 'kept', dueAt: dueAtOf(put, context.now), tally: 0 } }
}

function mergeWaiting(entry: Entry, put: Put, context: MergeContext): Merged {
  const replaces = put.onConflict === 'replace'
  const next = planned(entry.next, put, context.now)
  const merged = { ...entry, next, turn: replaces ? context.newTurn() : entry.turn, putAt: context.now }
  return { entry: merged, answer: answerOf(replaces ? 'replaced' : 'merged', next) }
}

/** A due run is never called back or put off: a put that is due now joins it, whatever its rule. */
function joinNext(entry: Entry, put: Put, context: MergeContext): Merged {
  const next = { ...entry.next, tally: entry.next.tally + 1, payload: put.payload ?? entry.next.payload }
  return { entry: { ...entry, next, putAt: context.now }, answer: answerOf('merged', next) }
}

/** The entry's turn stays: a run of `next` may be under way, and its settle must still count. */
function mergeAfter(entry: Entry, put: Put, context: MergeContext): Merged {
  const after = planned(entry.after, put, context.now)
  const replaces = put.onConflict === 'replace' && entry.after !== null
  return {
    entry: { ...entry, after, putAt: context.now },
    answer: answerOf(replaces ? 'replaced' : 'merged', after),
  }
}

function planned(run: PlannedRun | null, put: Put, now: number): PlannedRun {
  const dueAt = dueAtOf(put, now)
  if (run === null || put.onConflict === 'replace') return { dueAt, tally: 1, payload: put.payload ?? null }
  return { dueAt: Math.min(run.dueAt, dueAt), tally: run.tally + 1, payload: put.payload ?? run.payload }
}

/** Nothing ever writes a dueAt in the past: a cursor that has passed a moment need not look behind it. */
function dueAtOf(put: Put, now: number): number {
  return Math.max(put.at ?? now, now)
}

function answerOf(result: PutResult, run: PlannedRun): PutAnswer {
  return { result, dueAt: run.dueAt, tally: run.tally }
}
