// What is due in the table, by partition and lane: the answers of memory, and no more rows than are answered.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { noFaults } from '../../../../src/fault.ts'
import type { Store } from '../../../../src/store.ts'
import { LANES } from '../../../../src/pool/entry.ts'
import { createRandom } from '../../../../src/random.ts'
import { MOST_TAKEN } from '../../../../src/pool/lane-hold.ts'
import { MOST_KEPT } from '../../../../src/stores/sqlite/table-dues.ts'
import { openMemoryStore } from '../../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { type PoolDriver, asPut, openPool } from '../../../../src/testing/pool-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'

const PARTITIONS = 6

test('as many entries are kept as one take of a worker may answer', () => {
  assert.ok(MOST_KEPT >= MOST_TAKEN)
})

async function open(t: TestContext): Promise<{ clock: VirtualClock; stores: [Store, Store] }> {
  const path = await quickSqliteFiles.create()
  const clock = new VirtualClock()
  const sqlite = await quickSqliteFiles.open(path, clock)
  const memory = openMemoryStore({ clock, telemetry: createTelemetry(clock.id()), faults: noFaults })
  t.after(async () => {
    await sqlite.close()
    await quickSqliteFiles.remove(path)
  })
  return { clock, stores: [sqlite, memory] }
}

async function openBoth(stores: [Store, Store]): Promise<[PoolDriver, PoolDriver]> {
  return [
    await openPool(stores[0], { partitions: PARTITIONS }),
    await openPool(stores[1], { partitions: PARTITIONS }),
  ]
}

test('[J7] takes and next due times of some partitions and lanes are those of memory', async (t) => {
  const { clock, stores } = await open(t)
  const pools = await openBoth(stores)
  const random = createRandom(7)
  const answers = async (call: (pool: PoolDriver, store: Store) => Promise<unknown>): Promise<void> => {
    assert.deepEqual(await call(pools[0], stores[0]), await call(pools[1], stores[1]))
  }
  for (let step = 0; step < 150; step++) {
    const puts = Array.from({ length: 1 + random.below(20) }, () => {
      const onConflict = random.pick(['earliest', 'replace'] as const)
      return asPut(`k${random.below(400)}`, {
        at: START + random.below(3000),
        lane: random.pick(LANES),
        onConflict,
      })
    })
    await answers((pool) => pool.putAll(puts))
    await clock.leap(random.below(20))
    const partitions = [5, 3, 1, 4, 0, 2].filter(() => random.below(2) === 0)
    const request = {
      partitions,
      lane: random.pick(LANES),
      from: START + random.below(500),
      limit: 1 + random.below(60),
    }
    await answers(async (pool) => (await pool.take(request)).map(({ dueAt }) => dueAt))
    const gone = `k${random.below(400)}`
    await answers((pool) => pool.cancel(gone))
    await answers(async (_, store) => [
      ...(await store.pulse({ beat: null, pools: [{ pool: 'work', partitions }] })).nextDueAt,
    ])
  }
})

test('[J7] what is due elsewhere is not read, and little more than the limit of what is due here', async (t) => {
  const { stores } = await open(t)
  const [pool] = await openBoth(stores)
  await pool.putAll(Array.from({ length: 3000 }, (_, nth) => asPut(`k${nth}`, { at: START - nth })))
  const all = t.mock.method(StatementSync.prototype, 'all')
  const rowsOf = async (partitions: number[], limit: number): Promise<number> => {
    all.mock.resetCalls()
    assert.equal((await pool.take({ partitions, limit })).length, limit)
    return all.mock.calls.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
  }
  assert.equal(await rowsOf([2], 50), 50)
  // Sixteen of each partition at least.
  assert.ok((await rowsOf([0, 1, 2, 3, 4, 5], 10)) <= 6 * 16)
  assert.ok((await rowsOf([0, 1, 2, 3, 4, 5], 1000)) <= 3 * 1000)
  all.mock.restore()
})
