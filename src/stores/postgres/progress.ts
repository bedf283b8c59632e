// What runs tell of themselves: each call is one statement.
import { type Claim, poolResource } from '../../fence.ts'
import { PROGRESS_FOR_MS, type ProgressStore, type ToldProgress } from '../../pool/store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { PostgresPoolParts } from './pool.ts'
import { OTHER, READ } from './pools.ts'
import { slotColumn } from './rows.ts'

export class PostgresProgress implements ProgressStore {
  readonly #parts: Pick<PostgresPoolParts, 'connections' | 'pools'>

  constructor(parts: Pick<PostgresPoolParts, 'connections' | 'pools'>) {
    this.#parts = parts
  }

  async tell(pool: string, told: readonly ToldProgress[], { owner, held }: Claim): Promise<number> {
    const values = [
      this.#parts.pools.of(pool).id,
      numberArray(held.map(({ partition }) => partition)),
      numberArray(held.map(({ epoch }) => epoch)),
      poolResource(pool),
      owner,
      textArray(told.map(({ key }) => key)),
      numberArray(told.map(({ slot }) => slotColumn(slot))),
      numberArray(told.map(({ turn }) => turn)),
      textArray(told.map(({ progress }) => progress)),
    ]
    const [row] = await this.#parts.connections.query('tell_progress', values, { ...OTHER, timeoutMs: 1000 })
    return row?.['told'] as number
  }

  async read(
    pool: string,
    { key, slot }: { key: string; slot: number | null },
  ): Promise<{ progress: string; toldAt: number } | null> {
    const values = [this.#parts.pools.of(pool).id, key, slotColumn(slot)]
    const [row] = await this.#parts.connections.query('read_progress', values, READ)
    return row === undefined ? null : { progress: row['value'] as string, toldAt: row['told_at'] as number }
  }

  async sweep(limit: number): Promise<number> {
    const [row] = await this.#parts.connections.query('sweep_progress', [PROGRESS_FOR_MS, limit], OTHER)
    return row?.['gone'] as number
  }
}
