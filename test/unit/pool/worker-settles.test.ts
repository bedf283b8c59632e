// Settles of many runs: several calls of the store at once, and none of a run twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorker } from './open-worker.ts'

test('[X15] full batches of settles are under way three at once, and every run is settled once', async () => {
  const [settled, underWay] = [new Map<string, number>(), new Set<number>()]
  let [most, calls] = [0, 0]
  const { clock, pool, worker } = await openWorker(() => undefined, {
    entries: (entries) => ({
      settle: async (name, settlements, claim) => {
        const call = (calls += 1)
        underWay.add(call)
        most = Math.max(most, underWay.size)
        for (const { key } of settlements) settled.set(key, (settled.get(key) ?? 0) + 1)
        await clock.sleep(20)
        underWay.delete(call)
        return entries.settle(name, settlements, claim)
      },
    }),
  })
  await pool.putAll(Array.from({ length: 20_000 }, (_, nth) => ({ key: `k${nth}` })))
  await clock.advance(1000)
  assert.deepEqual([most, settled.size, Math.max(...settled.values())], [3, 20_000, 1])
  const { due, waiting } = await pool.count()
  assert.equal(due + waiting, 0)
  await worker.service.stop()
})
