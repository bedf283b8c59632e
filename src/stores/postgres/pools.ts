// The pools that this opening of the store knows: their numbers and fixed settings.
import { assert, isRefused } from '../../errors.ts'
import type { Lane, Mode } from '../../pool/entry.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import { laneOf, refuseOtherSettings } from '../../pool/settings.ts'
import type { PoolSettings } from '../../pool/store.ts'
import { textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Ask, Numbered } from './life.ts'
import type { Queries } from './queries.ts'

export interface KnownPool {
  id: number
  name: string
  mode: Mode
  partitions: number
  /** Of puts that name none. */
  lane: Lane
  payloads: KeptPayloads
}

export const OTHER: Call = { operation: 'commit', timeoutMs: 5000, again: 'undone' }
export const READ: Call = { operation: 'read', timeoutMs: 5000, again: 'exact' }
/** On the connections of the pulses, which must not wait long for one that stands still. */
export const VITAL_READ: Call = { ...READ, timeoutMs: 1000 }
/** A repeat of an opening changes nothing. */
const OPEN: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact' }

/** A pool, and the settings with which it was opened here. */
interface OpenedPool {
  pool: KnownPool
  settings: PoolSettings
  /** Why it cannot be used; null: it can. The store went back to where it had other settings. */
  refusal: unknown
}

export class Pools implements Numbered {
  readonly #connections: Connections
  readonly #queries: Queries
  readonly #pools = new Map<string, OpenedPool>()
  #count = 0

  constructor(connections: Connections, queries: Queries) {
    this.#connections = connections
    this.#queries = queries
  }

  get count(): number {
    return this.#count
  }

  async open(settings: PoolSettings): Promise<void> {
    const ask: Ask = (name, values) => this.#connections.query(name, values, OPEN)
    for (;;) {
      const { life } = this.#queries
      const pool = await openPool(ask, settings)
      // A number of another life is no pool's, or another's.
      if (life !== this.#queries.life) continue
      this.#pools.set(settings.name, { pool, settings, refusal: null })
      this.#count += 1
      return
    }
  }

  /** Those that the store has lost are created again. [Y22] */
  async renumber(ask: Ask): Promise<() => boolean> {
    const known = [...this.#pools.values()]
    const rows = await ask('pools_named', [textArray(known.map(({ pool }) => pool.name))])
    const stored = new Map(rows.map((row) => [row['name'], row]))
    const found: { opened: OpenedPool; pool: KnownPool; refusal: unknown }[] = []
    for (const opened of known) {
      const { pool, settings } = opened
      const row = stored.get(pool.name)
      try {
        if (row !== undefined) refuseOtherSettings(settingsOf(row), settings)
        const renumbered = row === undefined ? await openPool(ask, settings) : toPool(row, settings)
        found.push({ opened, pool: renumbered, refusal: null })
      } catch (error) {
        if (!isRefused(error)) throw error
        found.push({ opened, pool, refusal: error })
      }
    }
    return () => {
      const changed = found.filter(
        ({ opened, pool, refusal }) =>
          opened.pool.id !== pool.id || (refusal === null) !== (opened.refusal === null),
      )
      for (const { opened, pool, refusal } of found) {
        Object.assign(opened.pool, pool)
        opened.refusal = refusal
      }
      return changed.length > 0
    }
  }

  find(name: string): KnownPool | undefined {
    return this.#pools.get(name)?.pool
  }

  of(name: string): KnownPool {
    const opened = this.#pools.get(name)
    assert(opened !== undefined, `the pool ${name} was not opened`)
    if (opened.refusal !== null) throw opened.refusal
    return opened.pool
  }
}

async function openPool(ask: Ask, settings: PoolSettings): Promise<KnownPool> {
  const { name, mode, partitions, rememberMs, deadForMs, fansOut, throttleMs } = settings
  const values = [
    name,
    mode,
    partitions,
    rememberMs,
    deadForMs ?? null,
    fansOut ?? null,
    throttleMs ?? null,
    settings.payloads ?? null,
  ]
  const [row] = await ask('open_pool', values)
  if (row === undefined) {
    const [stored] = await ask('find_pool', [name])
    assert(stored !== undefined, `the pool ${name} exists`)
    refuseOtherSettings(settingsOf(stored), settings)
  }
  return toPool(row ?? {}, settings)
}

function toPool(row: Row, { name, mode, partitions }: PoolSettings): KnownPool {
  const payloads = row['payloads'] as KeptPayloads
  const lane = laneOf({ fansOut: row['fans_out'] as boolean })
  return { id: row['id'] as number, name, mode, partitions, lane, payloads }
}

function settingsOf(row: Row): Parameters<typeof refuseOtherSettings>[0] {
  return {
    name: row['name'] as string,
    mode: row['mode'] as Mode,
    partitions: row['partitions'] as number,
    fansOut: row['fans_out'] as boolean,
    payloads: row['payloads'] as KeptPayloads,
  }
}
