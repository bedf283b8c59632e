// The progress that runs report: each call is one statement.
import { type Claim, poolResource } from '../../fence.ts'
import { PROGRESS_FOR_MS, type ProgressStore, type ToldProgress } from '../../pool/store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { PostgresPoolParts } from './entries.ts'
import { claimColumns } from './fences.ts'
import { OTHER, READ } from './pools.ts'
import { slotColumn } from './rows.ts'

export class PostgresProgress implements ProgressStore {
  readonly #parts: Pick<PostgresPoolParts, 'connections' | 'pools'>

  constructor(parts: Pick<PostgresPoolParts, 'connections' | 'pools'>) {
    this.#parts = parts
  }

  async tell(pool: string, reports: readonly ToldProgress[], claim: Claim): Promise<number> {
    const values = [
      this.#parts.pools.of(pool).id,
      ...claimColumns(poolResource(pool), claim),
      textArray(reports.map(({ key }) => key)),
      numberArray(reports.map(({ slot }) => slotColumn(slot))),
      numberArray(reports.map(({ turn }) => turn)),
      textArray(reports.map(({ progress }) => progress)),
    ]
    const [row] = await this.#parts.connections.query('tell_progress', values, { ...OTHER, timeoutMs: 1000 })
    return row?.['written'] as number
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
