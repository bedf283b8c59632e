// A key with very many slots: what a call reads of them at once.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Store } from '../../../../src/store.ts'
import { type PoolDriver, asPut, openPool } from '../../../../src/testing/pool-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'

const SLOTS = 2500
const HOUR = 3_600_000

/** A pool with one key of many slots, most of which stand in the table. */
async function openSlots(t: TestContext): Promise<{ store: Store; pool: PoolDriver }> {
  const path = await quickSqliteFiles.create()
  const clock = new VirtualClock()
  const store = await quickSqliteFiles.open(path, clock)
  t.after(async () => {
    await store.close()
    await quickSqliteFiles.remove(path)
  })
  const pool = await openPool(store, { mode: 'each' })
  const puts = Array.from({ length: SLOTS }, (_, nth) => asPut('key', { at: START + HOUR + nth }))
  await pool.putAll(puts)
  await clock.leap(11_000)
  // Each pulse begins to fold a thousand, and a put waits until that is done.
  for (let round = 0; round * 1000 < SLOTS; round += 1) {
    await store.pulse({ beat: null, pools: [] })
    await pool.put('other')
  }
  return { store, pool }
}

test('[B2] [C1] listing or cancelling a key of very many slots reads no more at once than a page', async (t) => {
  const { store, pool } = await openSlots(t)
  const all = t.mock.method(StatementSync.prototype, 'all')
  const mostRows = (): number => Math.max(0, ...all.mock.calls.map(({ result }) => result?.length ?? 0))
  const { entries } = await store.pool.browse.list('work', { key: 'key', limit: 10 })
  assert.deepEqual(
    entries.map(({ slot }) => slot),
    Array.from({ length: 10 }, (_, nth) => START + HOUR + nth),
  )
  const { entries: dead } = await store.pool.browse.list('work', { key: 'key', limit: 10, state: 'dead' })
  assert.deepEqual([dead.length, mostRows()], [0, 10])
  all.mock.resetCalls()
  assert.deepEqual(await store.pool.entries.cancel('work', { key: 'key' }), { cancelled: SLOTS, due: 0 })
  assert.equal(mostRows(), 1000)
  assert.deepEqual(await pool.list({ key: 'key', limit: 10 }), [])
  all.mock.restore()
})
