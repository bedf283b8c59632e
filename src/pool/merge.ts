// The put table: what one put does to an entry. Pure; every store calls it or is compared with it.
// Rules [M1] to [M10] and [M17] of docs/spec/pool.md.
import { type Entry, type Lane, type Mode, type OnConflict, type PlannedRun, stateOf } from './entry.ts'

export interface Put {
  key: string
  /** Milliseconds; null: now. */
  at: number | null
  /** Due so long after the store's now, which is read in the step that applies the put; `at` is null then. [M17] */
  inMs?: number
  /** JSON text; undefined: none, and a payload that waits is left as it is. */
  payload: string | undefined
  /** Null: that of the pool. */
  lane: Lane | null
  group: string
  onConflict: OnConflict
  /** With `replace`: it is not put off for longer than this, since the first put that named one. [M10] */
  longestWaitMs?: number
  /** Of a put that arrived in a user's transaction: when the first that named a longest wait was made. [U6] */
  since?: number
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
  /** Of a put that names none. */
  lane: Lane
  /** Whether the slot has fired and is remembered. */
  fired: boolean
  /** Until when the key rests after its last run; 0: it does not. [M11] */
  restsUntil: number
  /** A number that was never used in this partition. */
  newTurn: () => number
}

export interface Merged {
  /** The entry as it is now; what was given, the same object or nothing, when nothing changed. */
  entry: Entry | undefined
  answer: PutAnswer
  /** The run that holds the put; of a kept put it means nothing. */
  into: 'next' | 'after'
}

export function merge(existing: Entry | undefined, put: Put, context: MergeContext): Merged {
  if (existing === undefined || existing.state === 'dead') {
    return context.fired ? keptFired(existing, put, context) : create(put, context, existing)
  }
  if (context.mode === 'each' || put.onConflict === 'keep') return kept(existing)
  const state = stateOf(existing, context.now)
  if (state === 'waiting') return mergeWaiting(existing, put, context)
  return askedAt(put, context.now) <= context.now
    ? joinNext(existing, put, context)
    : mergeAfter(existing, put, context)
}

/** The time that a put asks for, at the store's `now`. */
export function askedAt({ at, inMs }: Pick<Put, 'at' | 'inMs'>, now: number): number {
  return inMs === undefined ? (at ?? now) : now + inMs
}

/** The slot that a put speaks of in this mode. */
export function slotOf(put: Put, context: { mode: Mode; now: number }): number | null {
  return context.mode === 'each' ? askedAt(put, context.now) : null
}

/** An entry that stands where a dead one stood is `failing` until it is done. [Z8] */
function create(put: Put, context: MergeContext, dead: Entry | undefined): Merged {
  const next = planned(null, put, context)
  const entry: Entry = {
    key: put.key,
    slot: slotOf(put, context),
    group: put.group,
    partition: context.partition,
    turn: context.newTurn(),
    lane: put.lane ?? context.lane,
    next,
    after: null,
    attempt: 0,
    crashes: 0,
    state: 'live',
    failing: dead !== undefined,
    lastError: null,
    enqueuedAt: context.now,
    putAt: context.now,
  }
  return { entry, answer: { result: 'created', dueAt: next.dueAt, tally: 1 }, into: 'next' }
}

function kept(entry: Entry): Merged {
  return { entry, answer: { result: 'kept', dueAt: entry.next.dueAt, tally: entry.next.tally }, into: 'next' }
}

/** A slot that has fired is kept for as long as it is remembered: no run holds the put. [T5] */
function keptFired(existing: Entry | undefined, put: Put, context: MergeContext): Merged {
  return {
    entry: existing,
    answer: { result: 'kept', dueAt: dueAtOf(put, context.now, context), tally: 0 },
    into: 'next',
  }
}

function mergeWaiting(entry: Entry, put: Put, context: MergeContext): Merged {
  const replaces = put.onConflict === 'replace'
  const next = planned(entry.next, put, context)
  const merged = { ...entry, next, turn: replaces ? context.newTurn() : entry.turn, putAt: context.now }
  return { entry: merged, answer: answerOf(replaces ? 'replaced' : 'merged', next), into: 'next' }
}

/** A due run is never called back or put off: a put that is due now joins it, whatever its rule. */
function joinNext(entry: Entry, put: Put, context: MergeContext): Merged {
  const next = { ...entry.next, tally: entry.next.tally + 1, payload: put.payload ?? entry.next.payload }
  return { entry: { ...entry, next, putAt: context.now }, answer: answerOf('merged', next), into: 'next' }
}

/** The entry's turn stays: a run of `next` may be under way, and its settle must still count. */
function mergeAfter(entry: Entry, put: Put, context: MergeContext): Merged {
  const after = planned(entry.after, put, context)
  const replaces = put.onConflict === 'replace' && entry.after !== null
  return {
    entry: { ...entry, after, putAt: context.now },
    answer: answerOf(replaces ? 'replaced' : 'merged', after),
    into: 'after',
  }
}

function planned(run: PlannedRun | null, put: Put, context: MergeContext): PlannedRun {
  const since = run?.since ?? put.since ?? (put.longestWaitMs === undefined ? undefined : context.now)
  const dueAt = dueAtOf(put, since ?? context.now, context)
  if (run === null || put.onConflict === 'replace') {
    const fresh = { dueAt, tally: 1, payload: put.payload ?? null }
    return since === undefined ? fresh : { ...fresh, since }
  }
  const payload = put.payload ?? run.payload
  return { ...run, dueAt: Math.min(run.dueAt, dueAt), tally: run.tally + 1, payload }
}

/**
 * Nothing ever writes a dueAt in the past: a cursor that has passed a moment need not look behind it. Nor one before the
 * key has rested, nor, if that does not forbid it, one later than the longest wait allows.
 */
function dueAtOf(put: Put, since: number, { now, restsUntil }: MergeContext): number {
  const latest = since + (put.longestWaitMs ?? Infinity)
  return Math.max(Math.min(askedAt(put, now), latest), now, restsUntil)
}

function answerOf(result: PutResult, run: PlannedRun): PutAnswer {
  return { result, dueAt: run.dueAt, tally: run.tally }
}
