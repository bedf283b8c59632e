// Looking at entries: the journal and the table as one, on one snapshot of the file.
import { type Entry, type EntryState, stateOf } from '../../pool/entry.ts'
import { byDue, isAfter } from '../../pool/order.ts'
import type { Death } from '../../pool/settle.ts'
import type { Browse, EntryQuery, StoredPool } from '../../pool/store.ts'
import type { Database } from './database.ts'
import type { DueRange } from './due-queues.ts'
import { type Pools, type SqlitePool, findEntry } from './pools.ts'
import type { Session } from './session.ts'
import { fromSlotColumn } from './table.ts'

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
      const found = query.key === undefined ? inWindow(pool, query, now) : ofKey(pool, query.key)
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
}

function ofKey(pool: SqlitePool, key: string): Entry[] {
  return [...pool.journal.ofKey(key), ...pool.table.ofKey(key)]
}

/** Every entry that can be on the page: no more than a page of each place. */
function inWindow(pool: SqlitePool, query: EntryQuery, now: number): Entry[] {
  const { state } = query
  const range = rangeOf(query, now)
  const failed = state === 'backing-off' ? true : state === 'waiting' ? false : null
  const live = state === 'dead' ? [] : pool.table.listLive(range, failed)
  // Young entries have not failed.
  const young = state === 'dead' || failed === true ? [] : pool.journal.list(range)
  const dead = state === undefined || state === 'dead' ? pool.table.listDead(range) : []
  return [...live, ...young, ...dead]
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
    payload: row['payload'] as string | null,
    seen: row['seen'] as number,
    reason: row['reason'] as string,
    error: row['error'] as string | null,
    diedAt: row['died_at'] as number,
    ...(row['payloads'] === null ? {} : { payloads: JSON.parse(row['payloads'] as string) as string[] }),
  }
}
