// What was given up: each method is one transaction.
import { redrive } from '../../pool/settle.ts'
import type { DeadStore } from '../../pool/store.ts'
import type { SqliteEntriesParts } from './pool.ts'
import { findEntry, removeEntry, replaceEntry } from './pools.ts'
import { slotColumn } from './table.ts'

export class SqliteDead implements DeadStore {
  readonly #parts: SqliteEntriesParts

  constructor(parts: SqliteEntriesParts) {
    this.#parts = parts
  }

  async redrive(name: string, { key, slot }: { key: string; slot: number | null }): Promise<boolean> {
    const { session, pools } = this.#parts
    const dueAt = await session.write('put', ({ now }) => {
      const pool = pools.of(name)
      const entry = findEntry(pool, key, slot)
      if (entry?.state !== 'dead') return null
      replaceEntry(pool, entry, redrive(entry, { now, newTurn: pools.newTurn }))
      return now
    })
    if (dueAt !== null) this.#parts.hint({ kind: 'put', pool: name, dueAt })
    return dueAt !== null
  }

  remove(name: string, { key, slot }: { key: string; slot: number | null }): Promise<boolean> {
    const { session, pools, database } = this.#parts
    return session.write('other', () => {
      const pool = pools.of(name)
      const entry = findEntry(pool, key, slot)
      if (entry?.state !== 'dead') return false
      removeEntry(pool, entry)
      pool.rests.forget(key)
      pool.payloads?.forget(key)
      database.statement('remove_deaths').run(pool.id, key, slotColumn(slot))
      return true
    })
  }
}
