// Looking at entries: the journal and the table as one, on one snapshot of the file.
import { type Entry, type EntryState, stateOf } from '../../pool/entry.ts'
import { byDue, cursorOf, isAfter, isNamed } from '../../pool/order.ts'
import type { Death } from '../../pool/settle.ts'
import type { Browse, EntryQuery, StoredPool } from '../../pool/store.ts'
import type { Database } from './database.ts'
import type { DueRange } from './due-queues.ts'
import { type Pools, type SqlitePool, findEntry } from './pools.ts'
import type { Session } from './session.ts'
import { fromSlotColumn } from './entry-table.ts'

export interface SqliteBrowseParts {
  database: Database
  session: Session
  pools: Pools
  now(): number
}

export class SqliteBrowse implements Browse {
  readonly #parts: SqliteBrowseParts

  constructor(parts: SqliteBrowseParts) {
    this.#parts = parts
  }

  async get(name: string, { key, slot }: { key: string; slot: number | null }): Promise<Entry | null> {
    return this.#parts.session.read(() => findEntry(this.#parts.pools.of(name), key, slot) ?? null)
  }

  async list(name: string, query: EntryQuery): Promise<{ now: number; entries: Entry[] }> {
    return this.#parts.session.read(() => {
      const now = this.#parts.now()
      const pool = this.#parts.pools.of(name)
      const found =
        query.key === undefined ? inWindow(pool, query, now) : ofKey(pool, query.key, { query, now })
      const entries = found.filter((entry) => matches(entry, query, now))
      return { now, entries: entries.sort(byDue).slice(0, query.limit) }
    })
  }

  async count(name: string): Promise<Record<EntryState, number>> {
    return this.#parts.session.read(() => {
      const now = this.#parts.now()
      const pool = this.#parts.pools.of(name)
      const counts = pool.table.count(now)
      const due = pool.journal.countDue(now)
      counts.due += due
      counts.waiting += pool.journal.size - due
      return counts
    })
  }

  async deaths(name: string, limit: number): Promise<Death[]> {
    return this.#parts.session.read(() => {
      const rows = this.#parts.database.statement('list_deaths').all(this.#parts.pools.of(name).id, limit)
      return (rows as Record<string, unknown>[]).map(toDeath)
    })
  }

  async pools(): Promise<StoredPool[]> {
    return this.#parts.session.read(() => this.#parts.pools.stored().map(({ settings }) => settings))
  }

  async pool(name: string): Promise<StoredPool | null> {
    return this.#parts.session.read(() => this.#parts.pools.storedOf(name))
  }
}

/** Every entry of the key that can be on the page: the young ones, which are in memory, and a page of the table. */
function ofKey(pool: SqlitePool, key: string, { query, now }: { query: EntryQuery; now: number }): Entry[] {
  const { state, group } = query
  const dead = state === undefined ? null : state === 'dead'
  const kind = { dead, failed: failedOf(state), ...(group === undefined ? {} : { group }) }
  return [...pool.journal.ofKey(key), ...pool.table.listKey(key, rangeOf(query, now), kind)]
}

/** Whether entries of this state have failed; null: they may have or not. */
function failedOf(state: EntryState | undefined): boolean | null {
  return state === 'backing-off' ? true : state === 'waiting' ? false : null
}

/** Every entry that can be on the page: no more than a page of each place. */
function inWindow(pool: SqlitePool, query: EntryQuery, now: number): Entry[] {
  const { state } = query
  const range = rangeOf(query, now)
  const failed = failedOf(state)
  const live = state === 'dead' ? [] : pool.table.listLive(range, failed, query)
  // Young entries have not failed.
  const young = state === 'dead' || failed === true ? [] : listYoung(pool, range, query)
  const dead = state === undefined || state === 'dead' ? pool.table.listDead(range, query) : []
  return [...live, ...young, ...dead]
}

/** How many young entries one step looks at when a listing names some of them. */
const LOOKED_AT = 1000

/** Young entries of the range with the names that the query gives. The group of a young entry is its key. */
function listYoung({ journal }: SqlitePool, range: DueRange, query: EntryQuery): Entry[] {
  if (query.prefix === undefined && query.group === undefined) return journal.list(range)
  const found: Entry[] = []
  let { after } = range
  for (;;) {
    const page = journal.list({ ...range, after, limit: LOOKED_AT })
    found.push(...page.filter((entry) => isNamed(entry, query)))
    const last = page.at(-1)
    if (last === undefined || page.length < LOOKED_AT || found.length >= range.limit) return found
    after = cursorOf(last)
  }
}

function rangeOf(query: EntryQuery, now: number): DueRange {
  const { state, limit, dueFrom = -MAX, dueBefore = MAX } = query
  const from = state === 'waiting' || state === 'backing-off' ? Math.max(dueFrom, now + 1) : dueFrom
  const before = state === 'due' ? Math.min(dueBefore, now + 1) : dueBefore
  // The empty key is before every other.
  const start = { dueAt: Math.max(from, -MAX), key: '', slot: null }
  const after = query.after !== undefined && query.after.dueAt >= start.dueAt ? query.after : start
  return { after, before: Math.min(before, MAX), limit }
}

const MAX = Number.MAX_SAFE_INTEGER

function matches(entry: Entry, query: EntryQuery, now: number): boolean {
  return (
    isNamed(entry, query) &&
    entry.next.dueAt >= (query.dueFrom ?? -Infinity) &&
    entry.next.dueAt < (query.dueBefore ?? Infinity) &&
    (query.state === undefined || stateOf(entry, now) === query.state) &&
    (query.after === undefined || isAfter(entry, query.after))
  )
}

function toDeath(row: Record<string, unknown>): Death {
  return {
    key: row['key'] as string,
    slot: fromSlotColumn(row['slot'] as number),
    group: (row['grp'] as string | null) ?? (row['key'] as string),
    payload: row['payload'] as string | null,
    seen: row['seen'] as number,
    reason: row['reason'] as string,
    error: row['error'] as string | null,
    diedAt: row['died_at'] as number,
    ...(row['payloads'] === null ? {} : { payloads: JSON.parse(row['payloads'] as string) as string[] }),
  }
}
