// What was given up: each method is one transaction, or one read.
import { deathState, redrive } from '../../pool/settle.ts'
import type { DeadStore, DeathPayloads, DeathQuery, DeathRecord, RemovedDead } from '../../pool/store.ts'
import type { SqliteEntriesParts } from './entries.ts'
import { type SqlitePool, findEntry, replaceEntry } from './pools.ts'
import { fromSlotColumn, slotColumn } from './entry-table.ts'

const MAX = Number.MAX_SAFE_INTEGER

export class SqliteDead implements DeadStore {
  readonly #parts: SqliteEntriesParts

  constructor(parts: SqliteEntriesParts) {
    this.#parts = parts
  }

  async list(name: string, { key, from, before, limit, after }: DeathQuery): Promise<DeathRecord[]> {
    const { session, pools, database } = this.#parts
    // Every number is above 0: this is where all that died before the moment begins.
    const end = { diedAt: Math.min(before ?? MAX, MAX), id: 0 }
    const start = after !== undefined && after.diedAt < end.diedAt ? after : end
    const range = [start.diedAt, start.id, Math.max(from ?? -MAX, -MAX), limit]
    return session.read(() => {
      const pool = pools.of(name)
      const rows =
        key === undefined
          ? database.statement('page_of_deaths').all(pool.id, ...range)
          : database.statement('page_of_deaths_of_key').all(pool.id, key, ...range)
      return (rows as Record<string, unknown>[]).map((row) => toRecord(pool, row))
    })
  }

  async payloads(name: string, ids: readonly number[]): Promise<Map<number, DeathPayloads>> {
    const { session, pools, database } = this.#parts
    return session.read(() => {
      const found = ids.flatMap((id): [number, DeathPayloads][] => {
        const row = database.statement('find_death').get(id, pools.of(name).id)
        return row === undefined ? [] : [[id, toPayloads(row)]]
      })
      return new Map(found)
    })
  }

  async redrive(name: string, ids: readonly number[]): Promise<number> {
    const { session, pools } = this.#parts
    const { count, now } = await session.write('put', (tx) => {
      const redriven = ids.filter((id) => this.#redriveOne(pools.of(name), id, tx.now))
      return { count: redriven.length, now: tx.now }
    })
    if (count > 0) this.#parts.hint({ kind: 'put', pool: name, dueAt: now })
    return count
  }

  #redriveOne(pool: SqlitePool, id: number, now: number): boolean {
    const { pools, database } = this.#parts
    const death = database.statement('find_death').get(id, pool.id)
    if (death === undefined) return false
    const [key, slot] = [death['key'] as string, death['slot'] as number]
    const entry = findEntry(pool, key, fromSlotColumn(slot))
    if (entry?.state !== 'dead') return false
    if (database.statement('died_since').get(pool.id, key, slot, id) !== undefined) return false
    replaceEntry(pool, entry, redrive(entry, { now, newTurn: pools.newTurn }))
    return true
  }

  remove(name: string, ids: readonly number[]): Promise<RemovedDead> {
    const { session, pools } = this.#parts
    return session.write('other', () => this.#remove(pools.of(name).id, ids))
  }

  purge(limit: number): Promise<{ pool: string; deaths: number }[]> {
    const { session, pools, database } = this.#parts
    return session.write('other', ({ now }) => {
      let left = limit
      return pools.stored().flatMap(({ id, settings: { name, deadForMs } }) => {
        const old = database.statement('old_deaths').all(id, now - deadForMs, left)
        const { deaths } = this.#remove(
          id,
          (old as { id: number }[]).map((death) => death.id),
        )
        left -= deaths
        return deaths === 0 ? [] : [{ pool: name, deaths }]
      })
    })
  }

  /** Whether the pool is open or not: what is dead is known to nothing but the file. */
  #remove(pool: number, ids: readonly number[]): RemovedDead {
    const { database } = this.#parts
    const removed: RemovedDead = { deaths: 0, entries: 0 }
    for (const id of ids) {
      const death = database.statement('remove_death').get(id, pool)
      if (death === undefined) continue
      const { key, slot } = death as { key: string; slot: number }
      removed.deaths += 1
      if (database.statement('remove_dead_entry').run(pool, key, slot).changes === 0) continue
      removed.entries += 1
      database.statement('forget_rest').run(pool, key, slotColumn(null))
      database.statement('forget_payloads').run(pool, key)
    }
    return removed
  }
}

function toRecord(pool: SqlitePool, row: Record<string, unknown>): DeathRecord {
  const [key, slot] = [row['key'] as string, fromSlotColumn(row['slot'] as number)]
  return {
    id: row['id'] as number,
    key,
    slot,
    group: (row['grp'] as string | null) ?? key,
    state: deathState(findEntry(pool, key, slot)),
    seen: row['seen'] as number,
    reason: row['reason'] as string,
    error: row['error'] as string | null,
    diedAt: row['died_at'] as number,
  }
}

/** Of a row with the columns `payload` and `payloads`. */
export function toPayloads(row: Record<string, unknown>): DeathPayloads {
  const payload = row['payload'] as string | null
  return row['payloads'] === null
    ? { payload }
    : { payload, payloads: JSON.parse(row['payloads'] as string) as string[] }
}
