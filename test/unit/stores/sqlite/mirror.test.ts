// What memory holds is what the file holds, after any mix of operations, failed commits and other processes.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Put } from '../../../../src/pool/merge.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { type Random, createRandom } from '../../../../src/random.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const SEEDS = 8
const STEPS = 40
/** In every other seed one store works so many steps alone, and the other follows then. */
const STEPS_ALONE = 10
const HOUR = 3_600_000
const NO_BEAT = { beat: null, pools: [] }

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
    if (this.random.below(3) === 0) await this.clock.leap(this.random.below(40_000))
    // Often enough that what emptied segments leave behind is purged while the other store does not look.
    if (this.random.below(2) === 0) await store.pulse(NO_BEAT)
  }

  /** The newest change of the journal that no process can follow any more. */
  purged(): number {
    const database = new DatabaseSync(this.#path)
    const row = database.prepare(`select next from counter where name = 'purged'`).get()
    database.close()
    return row?.['next'] as number
  }

  #operate(store: Store): Promise<unknown> {
    const { entries } = store.pool
    const key = this.random.pick(['a', 'b'])
    const slot = this.#slot()
    switch (this.random.below(10)) {
      case 0:
        return entries.cancel('ticks', { key, slot })
      case 1:
        return entries.cancel('ticks', { key })
      case 2:
        return entries.reschedule('ticks', { key, slot, at: this.random.pick([slot, this.#slot()]) })
      case 3:
        return this.#move(store)
      case 4:
        return store.pulse(NO_BEAT)
      case 5:
        return this.#raise(store)
      default:
        return entries.put('ticks', [{ puts: [this.#put(key, slot), this.#put('e', slot)], repeat: null }])
    }
  }

  /** By the right of the one who holds the first partition, and perhaps the other. */
  async #move(store: Store): Promise<unknown> {
    const held = await store.fences.fences('pool/ticks')
    const claim = { owner: held[0]?.owner ?? 'm0', held }
    return store.mover.move({ pool: 'ticks', topic: 'ticks', limit: 3, claim })
  }

  #raise(store: Store): Promise<unknown> {
    const epoch = 1 + Math.floor(this.clock.mono() / HOUR) + this.random.below(3)
    const held = [0, 1].filter(() => this.random.below(3) > 0).map((partition) => ({ partition, epoch }))
    return store.fences.raise('pool/ticks', { owner: this.random.pick(['m0', 'm1']), held })
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
  const partitions = [0, 1].map((partition) => ({ pool: 'ticks', partitions: [partition] }))
  const dues = []
  for (const asked of partitions) dues.push(...(await store.pulse({ beat: null, pools: [asked] })).nextDueAt)
  const fences = await store.fences.fences('pool/ticks')
  // Those due at the same moment have no order: what a failed commit puts back stands behind them.
  const taken = { order: runs.map(({ dueAt }) => dueAt), runs: runs.toSorted((a, b) => a.turn - b.turn) }
  return { entries, byKey, taken, counts: await store.pool.browse.count('ticks'), bounds, dues, fences }
}

async function run(seed: number, folder: string): Promise<number> {
  const world = new World(seed, folder)
  const stores = [await world.open(), await world.open()]
  for (let step = 0; step < STEPS; step++) {
    const alone = seed % 2 === 0 ? undefined : stores[Math.floor(step / STEPS_ALONE) % 2]
    await world.step(alone ?? world.random.pick(stores))
    const fresh = await world.open()
    const truth = await contents(fresh)
    await fresh.close()
    const looking = alone === undefined || (step + 1) % STEPS_ALONE === 0 ? stores : [alone]
    for (const store of looking) assert.deepEqual(await contents(store), truth, `seed ${seed}, step ${step}`)
  }
  for (const store of stores) await store.close()
  return world.purged()
}

describe('the mirror of the SQLite store', () => {
  it('[J1] [J2] [J3] holds what a fresh opening of the file reads, whatever failed or came from outside', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
    let purged = 0
    for (let seed = 1; seed <= SEEDS; seed++) purged += await run(seed, folder)
    assert(purged > 0, 'nothing was purged')
    rmSync(folder, { recursive: true })
  })
})
