// The pools that this opening of the store knows: their numbers and fixed settings.
import { assert } from '../../errors.ts'
import type { Lane, Mode } from '../../pool/entry.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import { laneOf, refuseOtherSettings } from '../../pool/settings.ts'
import type { PoolSettings } from '../../pool/store.ts'
import type { Call, Connections } from './connections.ts'

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

export class Pools {
  readonly #connections: Connections
  readonly #pools = new Map<string, KnownPool>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async open(settings: PoolSettings): Promise<void> {
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
    const [row] = await this.#connections.query('open_pool', values, OPEN)
    if (row === undefined) {
      const [stored] = await this.#connections.query('find_pool', [name], READ)
      assert(stored !== undefined, `the pool ${name} exists`)
      refuseOtherSettings(
        {
          name,
          mode: stored['mode'] as Mode,
          partitions: stored['partitions'] as number,
          fansOut: stored['fans_out'] as boolean,
          payloads: stored['payloads'] as KeptPayloads,
        },
        settings,
      )
    }
    const payloads = row?.['payloads'] as KeptPayloads
    const lane = laneOf({ fansOut: row?.['fans_out'] as boolean })
    this.#pools.set(name, { id: row?.['id'] as number, name, mode, partitions, lane, payloads })
  }

  find(name: string): KnownPool | undefined {
    return this.#pools.get(name)
  }

  of(name: string): KnownPool {
    const pool = this.#pools.get(name)
    assert(pool !== undefined, `the pool ${name} was not opened`)
    return pool
  }
}
