// Limits of a group, and runs of one key that wait behind each other or are cancelled.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

test('[X24] [L16] what waits aside for its group does not start after a cancel, and others do', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership } = await openWorker(handler, { concurrency: 5 })
  await pool.limit({ group: { concurrency: 1 } })
  await pool.putAll(['a', 'b', 'c'].map((key, nth) => ({ key, group: 'g', at: START - 3 + nth })))
  await clock.advance(100)
  await pool.cancel('b')
  for (let nth = 0; nth < 3; nth += 1) {
    calls[nth]?.end()
    await clock.advance(1000)
  }
  assert.deepEqual(
    calls.map(({ run }) => run.key),
    ['a', 'c'],
  )
  await pool.put('d', { group: 'g' })
  await clock.advance(10)
  assert.equal(calls[2]?.run.key, 'd')
  calls[2]?.end()
  await clock.advance(10)
  await worker.service.stop()
  await ownership.idle([0], 0)
})

test('[X20] [L13] runs of a key that follow each other keep the limit of their group', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { mode: 'each', concurrency: 20 })
  await pool.limit({ group: { concurrency: 2 } })
  const slots = ['a', 'b', 'c'].flatMap((key) =>
    Array.from({ length: 30 }, (_, nth) => ({ key, group: 'g', at: START - 100 + nth })),
  )
  await pool.putAll(slots)
  await clock.advance(100)
  for (let ended = 0; ended < calls.length; ended += 1) {
    const running = calls.slice(ended)
    assert.ok(running.length <= 2, `${running.length} at once`)
    calls[ended]?.end()
    await clock.advance(1)
  }
  assert.equal(calls.length, 90)
  await worker.service.stop()
})
