// Which entries a caller of the library lists, and the query that comes of it.
import { type Moment, checkInstant, checkKey, checkMoment } from '../check.ts'
import { checkOptions, optionTable } from '../check-options.ts'
import type { EntryState } from './entry.ts'
import type { EntryCursor, EntryQuery } from './store.ts'

/** Options of `pool.list`. */
export interface ListOptions {
  key?: string
  /** Keys that begin with this text. */
  prefix?: string
  /** The group of their puts. */
  group?: string
  state?: EntryState
  /** Due at or after. */
  dueFrom?: Moment
  /** Due before. */
  dueBefore?: Moment
  /** The most entries of a page; default 100. */
  limit?: number
  /** `next` of the page before; null or left out: from the beginning. */
  after?: EntryCursor | null | undefined
}

export const STATES: readonly EntryState[] = ['waiting', 'due', 'backing-off', 'dead']
const LISTED = 100

const LIST = optionTable<ListOptions>('a list of entries', {
  key: null,
  prefix: null,
  group: null,
  state: STATES,
  dueFrom: null,
  dueBefore: null,
  limit: 'count',
  after: null,
})

export function listQuery(options: ListOptions): EntryQuery {
  checkOptions(options, LIST)
  const { key, prefix, group, state, dueFrom, dueBefore, limit = LISTED, after } = options
  return {
    ...(key === undefined ? {} : { key: checkKey(key) }),
    ...(prefix === undefined ? {} : { prefix: checkKey(prefix, 'prefix') }),
    ...(group === undefined ? {} : { group: checkKey(group, 'group') }),
    ...(state === undefined ? {} : { state }),
    ...(dueFrom === undefined ? {} : { dueFrom: checkMoment(dueFrom, 'dueFrom') }),
    ...(dueBefore === undefined ? {} : { dueBefore: checkMoment(dueBefore, 'dueBefore') }),
    limit,
    ...((after ?? null) === null ? {} : { after: checkCursor(after) }),
  }
}

/** Only a cursor that a list answered is of use; what looks otherwise would be passed to the store. */
function checkCursor(after: unknown): EntryCursor {
  checkOptions(after, CURSOR)
  const { dueAt, key, slot } = after as EntryCursor
  return {
    dueAt: checkInstant(dueAt, 'after.dueAt'),
    key: checkKey(key, 'after.key'),
    slot: slot === null ? null : checkInstant(slot, 'after.slot'),
  }
}

const CURSOR = optionTable<EntryCursor>('the cursor of a list', { dueAt: null, key: null, slot: null })
