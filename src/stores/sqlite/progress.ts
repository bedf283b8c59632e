// The progress that runs report: each method is one transaction, or one read.
import { type Claim, poolResource } from '../../fence.ts'
import { holdsTurn } from '../../pool/entry.ts'
import { PROGRESS_FOR_MS, type ProgressStore, type ToldProgress } from '../../pool/store.ts'
import type { SqliteEntriesParts } from './entries.ts'
import { findEntry } from './pools.ts'
import { slotColumn } from './entry-table.ts'

export class SqliteProgress implements ProgressStore {
  readonly #parts: SqliteEntriesParts

  constructor(parts: SqliteEntriesParts) {
    this.#parts = parts
  }

  tell(name: string, reports: readonly ToldProgress[], claim: Claim): Promise<number> {
    const { session, pools, fences, database } = this.#parts
    return session.write('other', ({ now }) => {
      const pool = pools.of(name)
      const held = new Set(fences.look(poolResource(name), claim).held)
      const there = reports.filter(({ key, slot, turn }) => {
        const entry = findEntry(pool, key, slot)
        return entry !== undefined && holdsTurn(entry, turn) && held.has(entry.partition)
      })
      const statement = database.statement('tell_progress')
      for (const { key, slot, turn, progress } of there)
        statement.run(pool.id, key, slotColumn(slot), turn, progress, now)
      return there.length
    })
  }

  async read(
    name: string,
    { key, slot }: { key: string; slot: number | null },
  ): Promise<{ progress: string; toldAt: number } | null> {
    const { session, pools, database } = this.#parts
    return session.read(() => {
      const pool = pools.of(name)
      const row = database.statement('read_progress').get(pool.id, key, slotColumn(slot))
      const entry = findEntry(pool, key, slot)
      if (row === undefined || entry === undefined || !holdsTurn(entry, row['turn'] as number)) return null
      return { progress: row['value'] as string, toldAt: row['told_at'] as number }
    })
  }

  sweep(limit: number): Promise<number> {
    const { session, database } = this.#parts
    return session.write('other', ({ now }) =>
      Number(database.statement('sweep_progress').run(now - PROGRESS_FOR_MS, limit).changes),
    )
  }
}
