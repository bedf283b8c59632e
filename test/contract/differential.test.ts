// Seeded operations on the memory store and on another one, side by side. To repeat a failure, run its seed
// alone: SEED=17 node --test test/contract/differential.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store.ts'
import { alternate } from '../../src/testing/alternate.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { compareSeeds, openMemory } from './compare-seeds.ts'
import { quickSqliteFiles } from './open-sqlite.ts'

test('[M1] the operations meet every cell of the put table, of reschedule and of the settle table, on memory', async () => {
  assert.deepEqual(await compareSeeds(200, { open: openMemory, durable: false }), [])
})

async function compareSqlite(
  seeds: number,
  open: (path: string, clock: VirtualClock) => Promise<Store>,
): Promise<string[]> {
  const path = await quickSqliteFiles.create()
  try {
    return await compareSeeds(seeds, { open: (clock) => open(path, clock), durable: true })
  } finally {
    await quickSqliteFiles.remove(path)
  }
}

test('[W1] SQLite, closed and opened on the way, answers 200 seeds of operations as memory does', async () => {
  assert.deepEqual(await compareSqlite(200, quickSqliteFiles.open), [])
})

test('[W2] two openings of one SQLite file, called in turns, answer as memory does', async () => {
  await compareSqlite(40, async (path, clock) =>
    alternate(await quickSqliteFiles.open(path, clock), await quickSqliteFiles.open(path, clock)),
  )
})
