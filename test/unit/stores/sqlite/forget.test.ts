// Forgetting keeps up with what is remembered.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { claimAll } from '../../../../src/testing/claim.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'

function firedRows(path: string): number {
  const database = new DatabaseSync(path)
  const row = database.prepare('select count(*) as count from fired').get()
  database.close()
  return row?.['count'] as number
}

test('one pulse forgets all of 5,000 fired slots whose time is over', async () => {
  const path = await quickSqliteFiles.create()
  const clock = new VirtualClock()
  const store = await quickSqliteFiles.open(path, clock)
  await store.pool.entries.open({ name: 'ticks', mode: 'each', partitions: 1, rememberMs: 1000 })
  await store.log.open({ name: 'ticks', partitions: 1, retentionMs: 60_000 })
  const claim = await claimAll(store, 'ticks', 1)
  const at = clock.now()
  const puts = Array.from({ length: 5000 }, (_, index) => {
    const key = `k${index}`
    return { key, at, payload: undefined, lane: 'normal', group: key, onConflict: 'earliest' } as const
  })
  await store.pool.entries.put('ticks', [{ puts, repeat: null }])
  await store.mover.move({ pool: 'ticks', topic: 'ticks', limit: 5000, claim })
  assert.equal(firedRows(path), 5000)
  await clock.leap(1000)
  await store.pulse({ beat: null, pools: [] })
  await store.close()
  assert.equal(firedRows(path), 0)
  await quickSqliteFiles.remove(path)
})
