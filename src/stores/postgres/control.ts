// The control records of pools: each call is one statement.
import { type Control, NO_CONTROL } from '../../pool/control.ts'
import type { Controlled, ControlStore } from '../../pool/store.ts'
import type { PostgresPoolParts } from './entries.ts'
import { OTHER, READ } from './pools.ts'

export class PostgresControl implements ControlStore {
  readonly #parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>

  constructor(parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>) {
    this.#parts = parts
  }

  async read(pool: string): Promise<Controlled> {
    const [row] = await this.#parts.connections.query('read_control', [this.#parts.pools.of(pool).id], READ)
    const text = row?.['control'] as string | null
    const control = text === null ? NO_CONTROL : (JSON.parse(text) as Control)
    return { now: row?.['now'] as number, version: (row?.['version'] as number | null) ?? 0, control }
  }

  async write(pool: string, version: number, control: Control): Promise<number | null> {
    const values = [this.#parts.pools.of(pool).id, version, JSON.stringify(control)]
    const [row] = await this.#parts.connections.query('write_control', values, OTHER)
    if (row === undefined) return null
    this.#parts.hint({ kind: 'control', pool })
    return row['version'] as number
  }
}
