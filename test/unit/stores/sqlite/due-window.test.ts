// What a take has read stays in memory until it is settled: the answers must be those of the file all the same, whatever
// failed, was put meanwhile, or came from another process.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import type { TakenRun } from '../../../../src/pool/entry.ts'
import type { Outcome } from '../../../../src/pool/settle.ts'
import { type Random, createRandom } from '../../../../src/random.ts'
import type { Store } from '../../../../src/store.ts'
import { openStore } from '../../../../src/stores/open.ts'
import { DueWindow, LAST_TURN } from '../../../../src/stores/sqlite/due-window.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { asPut, openPool, type PoolDriver } from '../../../../src/testing/pool-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'
import { entryOf } from '../entry-of.ts'

const STEPS = 60
const ALL = { partitions: 3, mode: 'one' } as const

class World {
  readonly clock = new VirtualClock()
  readonly random: Random
  readonly path: string
  failing = false

  constructor(path: string, seed: number) {
    this.path = path
    this.random = createRandom(seed)
  }

  async open(): Promise<{ store: Store; pool: PoolDriver }> {
    const at = (point: string): void => {
      if (this.failing && point.endsWith('before-commit')) throw new Error('planned failure')
    }
    const telemetry = createTelemetry(this.clock.id())
    const store = await openStore(`sqlite:${this.path}`, { clock: this.clock, telemetry, faults: { at } })
    return { store, pool: await openPool(store, ALL) }
  }

  outcome(): Outcome {
    const dueAt = this.clock.now() + this.random.below(30)
    const dead = { kind: 'dead', reason: 'test', error: null } as const
    return this.random.pick<Outcome>([{ kind: 'done' }, { kind: 'done' }, { kind: 'again', dueAt }, dead])
  }
}

/** Puts that may fail, and settles of what was taken a while ago, some of it twice. */
async function step(world: World, pool: PoolDriver, taken: TakenRun[]): Promise<void> {
  const { random, clock } = world
  const puts = Array.from({ length: 1 + random.below(8) }, () =>
    asPut(`k${random.below(60)}`, { at: clock.now() + random.below(20) - 10, payload: `${random.below(9)}` }),
  )
  world.failing = random.below(4) === 0
  const settlements = taken
    .splice(0, random.below(8))
    .map((run) => ({ ...run, outcome: world.outcome() }))
    .flatMap((each) => (random.below(6) === 0 ? [each, each] : [each]))
  await Promise.allSettled([pool.putAll(puts), pool.settleAll(settlements)])
  world.failing = false
  if (random.below(5) === 0) await pool.cancel(`k${random.below(60)}`)
  await clock.leap(random.below(12))
}

for (const openings of [1, 2]) {
  test(`[J2] [J3] takes answer what the file holds, whatever was read before, with ${openings} of its openings`, async () => {
    const path = await quickSqliteFiles.create()
    const world = new World(path, 40 + openings)
    const sides = await Promise.all(Array.from({ length: openings }, () => world.open()))
    const taken: TakenRun[] = []
    for (let nth = 0; nth < STEPS; nth++) {
      const { pool } = sides[nth % openings] as (typeof sides)[number]
      await step(world, pool, taken)
      const request = { from: world.clock.now() - world.random.below(60), limit: 1 + world.random.below(30) }
      const fresh = await world.open()
      for (const side of sides) {
        assert.deepEqual(await side.pool.take(), await fresh.pool.take(), `step ${nth}`)
        const [some, truth] = [await side.pool.take(request), await fresh.pool.take(request)]
        assert.deepEqual(
          some.map(({ dueAt }) => dueAt),
          truth.map(({ dueAt }) => dueAt),
        )
        assert.deepEqual(await side.pool.list(), await fresh.pool.list())
      }
      taken.push(...(await pool.take(request)))
      await fresh.store.close()
    }
    for (const { store } of sides) await store.close()
    await quickSqliteFiles.remove(path)
  })
}

test('what was read is not read again, neither by a take nor by its settle, and is deleted by one statement', async (t) => {
  const path = await quickSqliteFiles.create()
  const store = await quickSqliteFiles.open(path, new VirtualClock())
  const pool = await openPool(store, ALL)
  await pool.putAll(Array.from({ length: 300 }, (_, nth) => asPut(`k${nth}`)))
  const runs = await pool.take({ limit: 200 })
  const all = t.mock.method(StatementSync.prototype, 'all')
  const get = t.mock.method(StatementSync.prototype, 'get')
  const run = t.mock.method(StatementSync.prototype, 'run')
  assert.deepEqual(await pool.take({ limit: 200 }), runs)
  assert.equal(all.mock.callCount(), 0)
  for (const mock of [get, run]) mock.mock.resetCalls()
  await pool.settleAll(runs.map((each) => ({ ...each, outcome: { kind: 'done' } })))
  // Begin, delete, the number of the commit, commit.
  assert.equal(run.mock.callCount(), 4)
  assert.ok(get.mock.callCount() <= 5)
  for (const mock of [all, get, run]) mock.mock.restore()
  assert.equal((await pool.list()).length, 100)
  await store.close()
  await quickSqliteFiles.remove(path)
})

test('a window takes in what is written within it, in due order, and nothing beyond its end', () => {
  const window = new DueWindow(START)
  const [early, late] = [entryOf('b', START + 5, { turn: 2 }), entryOf('d', START + 9, { turn: 4 })]
  window.extend([early, late], null)
  assert.equal(window.add(entryOf('e', START + 9, { turn: 5 })), false)
  assert.equal(window.add(entryOf('a', START - 1, { turn: 6 })), false)
  assert.equal(window.add(entryOf('c', START + 6, { turn: 7 })), true)
  assert.deepEqual(
    [...window.entries()].map(({ key }) => key),
    ['b', 'c', 'd'],
  )
  window.extend([], START + 20)
  assert.equal(window.endTurn, LAST_TURN)
  assert.deepEqual([window.reaches(START + 20), window.reaches(START + 21)], [true, false])
  assert.equal(window.add(entryOf('e', START + 20, { turn: 8 })), true)
  window.delete(2)
  window.add({ ...late, putAt: START })
  assert.deepEqual(
    [...window.entries()].map(({ key, putAt }) => [key, putAt]),
    [
      ['c', 0],
      ['d', START],
      ['e', 0],
    ],
  )
})
