// What memory holds is what the file holds, after any mix of operations, failed commits and other processes.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Put } from '../../../../src/pool/merge.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { type Random, createRandom } from '../../../../src/random.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const SEEDS = 8
const STEPS = 40
const HOUR = 3_600_000

class World {
  readonly clock = new VirtualClock()
  readonly random: Random
  readonly #path: string
  failing = false

  constructor(seed: number, folder: string) {
    this.random = createRandom(seed)
    this.#path = join(folder, `${seed}.db`)
  }

  async open(): Promise<Store> {
    const store = await openStore(`sqlite:${this.#path}`, {
      clock: this.clock,
      telemetry: createTelemetry(this.clock.id()),
      faults: {
        at: (point) => {
          if (this.failing && point.endsWith('before-commit')) throw new Error('planned failure')
        },
      },
    })
    await store.pool.entries.open({ name: 'ticks', mode: 'each', partitions: 2, rememberMs: 0 })
    await store.log.open({ name: 'ticks', partitions: 2, retentionMs: HOUR })
    return store
  }

  /** One operation; now and then its commit fails, and two share a turn. */
  async step(store: Store): Promise<void> {
    this.failing = this.random.below(3) === 0
    const operations = [this.#operate(store), ...(this.random.below(3) === 0 ? [this.#operate(store)] : [])]
    const results = await Promise.allSettled(operations)
    for (const result of results) {
      if (result.status === 'rejected') assert.match(String(result.reason), /planned failure/)
    }
    this.failing = false
    if (this.random.below(5) === 0) await this.clock.advance(this.random.below(40_000))
  }

  #operate(store: Store): Promise<unknown> {
    const { entries } = store.pool
    const key = this.random.pick(['a', 'b'])
    const slot = this.#slot()
    switch (this.random.below(8)) {
      case 0:
        return entries.cancel('ticks', { key, slot })
      case 1:
        return entries.cancel('ticks', { key })
      case 2:
        return entries.reschedule('ticks', { key, slot, at: this.random.pick([slot, this.#slot()]) })
      case 3:
        return store.mover.move({ pool: 'ticks', topic: 'ticks', limit: 3 })
      case 4:
        return store.pulse()
      default:
        return entries.put('ticks', [{ puts: [this.#put(key, slot), this.#put('e', slot)], repeat: null }])
    }
  }

  /** Few distinct slots, near and far, so that operations meet; far ones are folded. */
  #slot(): number {
    const hour = Math.ceil(this.clock.now() / HOUR) * HOUR
    return this.random.pick([hour, hour + 1, hour + HOUR, this.clock.now() + 500])
  }

  #put(key: string, at: number): Put {
    const lane = this.random.below(6) === 0 ? 'bulk' : 'normal'
    return { key, at, payload: undefined, lane, group: key, onConflict: 'earliest' }
  }
}

async function contents(store: Store): Promise<unknown> {
  const { entries } = await store.pool.browse.list('ticks', { limit: 1000 })
  const byKey = []
  for (const key of ['a', 'b', 'e']) byKey.push(await store.pool.browse.list('ticks', { key, limit: 1000 }))
  const { runs } = await store.pool.entries.take('ticks', {
    partitions: null,
    lane: 'normal',
    from: -Infinity,
    limit: 1000,
  })
  const { bounds } = await store.log.topic('ticks')
  return { entries, byKey, runs, counts: await store.pool.browse.count('ticks'), bounds }
}

async function run(seed: number, folder: string): Promise<void> {
  const world = new World(seed, folder)
  const stores = [await world.open(), await world.open()]
  for (let step = 0; step < STEPS; step++) {
    await world.step(world.random.pick(stores))
    const fresh = await world.open()
    const truth = await contents(fresh)
    await fresh.close()
    for (const store of stores) assert.deepEqual(await contents(store), truth, `seed ${seed}, step ${step}`)
  }
  for (const store of stores) await store.close()
}

describe('the mirror of the SQLite store', () => {
  it('[J1] [J2] [J3] holds what a fresh opening of the file reads, whatever failed or came from outside', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
    for (let seed = 1; seed <= SEEDS; seed++) await run(seed, folder)
    rmSync(folder, { recursive: true })
  })
})
