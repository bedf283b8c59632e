// Looking at entries, on the indexes that there are: one range per partition and lane for those that live, small indexes
// of their own for those that failed or are dead.
import type { Entry, EntryState, Mode } from '../../pool/entry.ts'
import { partitionOf } from '../../partition.ts'
import { byDue, endOfPrefix } from '../../pool/order.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import type { Death } from '../../pool/settle.ts'
import type { Browse, EntryQuery, StoredPool } from '../../pool/store.ts'
import type { Connections, Row } from './connections.ts'
import { type KnownPool, type Pools, READ } from './pools.ts'
import { fromSlotColumn, slotColumn, toEntry } from './rows.ts'

export interface PostgresBrowseParts {
  connections: Connections
  pools: Pools
}

const MAX = Number.MAX_SAFE_INTEGER

export class PostgresBrowse implements Browse {
  readonly #parts: PostgresBrowseParts

  constructor(parts: PostgresBrowseParts) {
    this.#parts = parts
  }

  async get(name: string, { key, slot }: { key: string; slot: number | null }): Promise<Entry | null> {
    const values = [this.#parts.pools.of(name).id, key, slotColumn(slot)]
    const [row] = await this.#parts.connections.query('get', values, READ)
    return row === undefined ? null : toEntry(row)
  }

  async list(name: string, query: EntryQuery): Promise<{ now: number; entries: Entry[] }> {
    const pool = this.#parts.pools.of(name)
    const [clock] = await this.#parts.connections.query('read_clock', [pool.id], READ)
    const now = clock?.['now'] as number
    const pages = await Promise.all(this.#pages(pool, query, now))
    const rows = pages.flat().map(toEntry)
    const entries = pages.length === 1 ? rows : rows.sort(byDue).slice(0, query.limit)
    return { now, entries }
  }

  /** The pages that the page is merged from. */
  #pages(pool: KnownPool, query: EntryQuery, now: number): Promise<Row[]>[] {
    const { key, prefix, group, state } = query
    const window = windowOf(query, now)
    const ask = (list: string, first: unknown, more: unknown[] = []): Promise<Row[]> =>
      this.#parts.connections.query(list, [pool.id, first, ...window, ...more], READ)
    const kept = [state ?? null, now, group ?? null]
    if (key !== undefined && prefix !== undefined && !key.startsWith(prefix)) return [Promise.resolve([])]
    if (key !== undefined) return [ask('list_key', key, kept)]
    if (prefix !== undefined) return [ask('list_prefix', prefix, [...kept, endOfPrefix(prefix)])]
    if (group !== undefined) return [ask('list_group', partitionOf(group, pool.partitions), kept)]
    if (state === 'dead') return [ask('list_dead', pool.partitions)]
    if (state === 'backing-off') return [ask('list_failing', pool.partitions)]
    const live = ask('list_live', pool.partitions, [state === 'waiting' ? false : null])
    return state === undefined ? [live, ask('list_dead', pool.partitions)] : [live]
  }

  async count(name: string): Promise<Record<EntryState, number>> {
    const [row] = await this.#parts.connections.query('count', [this.#parts.pools.of(name).id], READ)
    return {
      waiting: row?.['waiting'] as number,
      due: row?.['due'] as number,
      'backing-off': row?.['backing_off'] as number,
      dead: row?.['dead'] as number,
    }
  }

  async deaths(name: string, limit: number): Promise<Death[]> {
    const rows = await this.#parts.connections.query('deaths', [this.#parts.pools.of(name).id, limit], READ)
    return rows.map(toDeath)
  }

  async pools(): Promise<StoredPool[]> {
    return (await this.#parts.connections.query('all_pools', [], READ)).map(toStored)
  }

  async pool(name: string): Promise<StoredPool | null> {
    const [row] = await this.#parts.connections.query('stored_pool', [name], READ)
    return row === undefined ? null : toStored(row)
  }
}

function toStored(row: Row): StoredPool {
  return {
    name: row['name'] as string,
    mode: row['mode'] as Mode,
    partitions: row['partitions'] as number,
    rememberMs: row['remember_ms'] as number,
    deadForMs: row['dead_for_ms'] as number,
    fansOut: row['fans_out'] as boolean,
    throttleMs: row['throttle_ms'] as number,
    payloads: row['payloads'] as KeptPayloads,
  }
}

/** Where the page begins, the window of due times, and the limit: parameters 3 to 8 of the listings. */
function windowOf(query: EntryQuery, now: number): unknown[] {
  const { state, limit, dueFrom = -MAX, dueBefore = MAX, after } = query
  const isLater = state === 'waiting' || state === 'backing-off'
  const from = Math.max(isLater ? Math.max(dueFrom, now + 1) : dueFrom, -MAX)
  const before = Math.min(state === 'due' ? Math.min(dueBefore, now + 1) : dueBefore, MAX)
  // The empty key is before every other.
  const start = after === undefined ? [-MAX, '', -MAX] : [after.dueAt, after.key, slotColumn(after.slot)]
  return [...start, from, before, limit]
}

function toDeath(row: Row): Death {
  return {
    key: row['key'] as string,
    slot: fromSlotColumn(row['slot']),
    group: (row['grp'] as string | null) ?? (row['key'] as string),
    payload: row['payload'] as string | null,
    seen: row['seen'] as number,
    reason: row['reason'] as string,
    error: row['error'] as string | null,
    diedAt: row['died_at'] as number,
    ...(row['payloads'] === null ? {} : { payloads: row['payloads'] as string[] }),
  }
}
