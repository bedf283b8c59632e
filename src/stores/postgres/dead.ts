// What was given up: each call is one statement.
import type { DeadStore } from '../../pool/store.ts'
import type { PostgresPoolParts } from './pool.ts'
import { OTHER } from './pools.ts'
import { slotColumn } from './rows.ts'

export class PostgresDead implements DeadStore {
  readonly #parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>

  constructor(parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>) {
    this.#parts = parts
  }

  async redrive(pool: string, { key, slot }: { key: string; slot: number | null }): Promise<boolean> {
    const values = [this.#parts.pools.of(pool).id, key, slotColumn(slot)]
    const [row] = await this.#parts.connections.query('redrive', values, OTHER)
    if (row === undefined) return false
    this.#parts.hint({ kind: 'put', pool, dueAt: row['due_at'] as number })
    return true
  }

  async remove(pool: string, { key, slot }: { key: string; slot: number | null }): Promise<boolean> {
    const values = [this.#parts.pools.of(pool).id, key, slotColumn(slot)]
    const [row] = await this.#parts.connections.query('remove_dead', values, OTHER)
    return row?.['removed'] === 1
  }
}
