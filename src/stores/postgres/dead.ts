// What was given up: each call but the purge is one statement.
import type { Entry } from '../../pool/entry.ts'
import { deathState } from '../../pool/settle.ts'
import type { DeadStore, DeathPayloads, DeathQuery, DeathRecord, RemovedDead } from '../../pool/store.ts'
import { numberArray } from './arrays.ts'
import type { Row } from './connections.ts'
import type { PostgresPoolParts } from './entries.ts'
import { OTHER, READ } from './pools.ts'
import { fromSlotColumn } from './rows.ts'

const MAX = Number.MAX_SAFE_INTEGER

export class PostgresDead implements DeadStore {
  readonly #parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>

  constructor(parts: Pick<PostgresPoolParts, 'connections' | 'pools' | 'hint'>) {
    this.#parts = parts
  }

  async list(name: string, { key, from, before, limit, after }: DeathQuery): Promise<DeathRecord[]> {
    // Every number is above 0: this is where all that died before the moment begins.
    const end = { diedAt: Math.min(before ?? MAX, MAX), id: 0 }
    const start = after !== undefined && after.diedAt < end.diedAt ? after : end
    const range = [start.diedAt, start.id, Math.max(from ?? -MAX, -MAX), limit]
    const rows = await this.#query('page_of_deaths', [this.#idOf(name), key ?? null, ...range], READ)
    return rows.map(toRecord)
  }

  async payloads(name: string, ids: readonly number[]): Promise<Map<number, DeathPayloads>> {
    const rows = await this.#query('payloads_of_deaths', [this.#idOf(name), numberArray(ids)], READ)
    return new Map(rows.map((row) => [row['id'] as number, toPayloads(row)]))
  }

  async redrive(name: string, ids: readonly number[]): Promise<number> {
    const [row] = await this.#query('redrive', [this.#idOf(name), numberArray(ids)], OTHER)
    const redriven = row?.['redriven'] as number
    if (redriven > 0) this.#parts.hint({ kind: 'put', pool: name, dueAt: row?.['now'] as number })
    return redriven
  }

  remove(name: string, ids: readonly number[]): Promise<RemovedDead> {
    return this.#remove(this.#idOf(name), ids)
  }

  async purge(limit: number): Promise<{ pool: string; deaths: number }[]> {
    const old = Map.groupBy(await this.#query('old_deaths', [limit], READ), (row) => row['pool'] as number)
    const purged: { pool: string; deaths: number }[] = []
    for (const [id, rows] of old) {
      const { deaths } = await this.#remove(
        id,
        rows.map((row) => row['id'] as number),
      )
      purged.push({ pool: rows[0]?.['name'] as string, deaths })
    }
    return purged
  }

  async #remove(pool: number, ids: readonly number[]): Promise<RemovedDead> {
    const [row] = await this.#query('remove_deaths', [pool, numberArray(ids)], OTHER)
    return { deaths: row?.['deaths'] as number, entries: row?.['entries'] as number }
  }

  #idOf(name: string): number {
    return this.#parts.pools.of(name).id
  }

  #query(name: string, values: unknown[], call: typeof READ): Promise<Row[]> {
    return this.#parts.connections.query(name, values, call)
  }
}

/** Of the entry as it is now; null: there is none. */
function stateOf(row: Row): Pick<Entry, 'state' | 'failing'> | null {
  if (row['state'] === null) return null
  return { state: row['state'] as Entry['state'], failing: row['failing'] as boolean }
}

function toRecord(row: Row): DeathRecord {
  return {
    id: row['id'] as number,
    key: row['key'] as string,
    slot: fromSlotColumn(row['slot']),
    group: (row['grp'] as string | null) ?? (row['key'] as string),
    state: deathState(stateOf(row)),
    seen: row['seen'] as number,
    reason: row['reason'] as string,
    error: row['error'] as string | null,
    diedAt: row['died_at'] as number,
  }
}

/** Of a row with the columns `payload` and `payloads`. */
export function toPayloads(row: Row): DeathPayloads {
  const payload = row['payload'] as string | null
  return row['payloads'] === null ? { payload } : { payload, payloads: row['payloads'] as string[] }
}
