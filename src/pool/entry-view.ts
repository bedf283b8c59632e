// An entry as its users see it.
import { type Entry, type EntryState, type Lane, type PlannedRun, stateOf } from './entry.ts'
import { cursorOf } from './order.ts'
import type { EntryCursor } from './store.ts'

/** An entry as `pool.get` and `pool.list` show it. */
export interface EntryView {
  key: string
  at: Date | null
  dueAt: Date
  state: EntryState
  tally: number
  payload: unknown
  after: { dueAt: Date; tally: number; payload: unknown } | null
  partition: number
  /** The key by default. */
  group: string
  lane: Lane
  /** How many attempts of its next run have failed, 0 at first; of a dead entry: all that it had. */
  attempt: number
  /** What its last attempt failed with, until a run of it is done; null: nothing was thrown. */
  lastError: string | null
  enqueuedAt: Date
  putAt: Date
}

/** What an entry is at the store's `now`. */
export function view(entry: Entry, now: number): EntryView {
  return {
    key: entry.key,
    at: entry.slot === null ? null : new Date(entry.slot),
    dueAt: new Date(entry.next.dueAt),
    state: stateOf(entry, now),
    tally: entry.next.tally,
    payload: read(entry.next),
    after:
      entry.after === null
        ? null
        : { dueAt: new Date(entry.after.dueAt), tally: entry.after.tally, payload: read(entry.after) },
    partition: entry.partition,
    group: entry.group,
    lane: entry.lane,
    attempt: entry.attempt,
    lastError: entry.lastError,
    enqueuedAt: new Date(entry.enqueuedAt),
    putAt: new Date(entry.putAt),
  }
}

/** A page of a listing that was asked for one more than `limit`. */
export function pageOf(
  entries: readonly Entry[],
  limit: number,
  now: number,
): { entries: EntryView[]; next: EntryCursor | null } {
  const page = entries.slice(0, limit)
  const last = entries.length > limit ? page.at(-1) : undefined
  return { entries: page.map((entry) => view(entry, now)), next: last === undefined ? null : cursorOf(last) }
}

function read({ payload }: Pick<PlannedRun, 'payload'>): unknown {
  return payload === null ? undefined : JSON.parse(payload)
}
