// Which limit a worker says keeps its runs waiting: one that binds, and not one that its handlers come before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorker, waitingHandler } from './open-worker.ts'

const RUN = { group: 'c', partition: 0 }
const THREE = [{ key: 'a' }, { key: 'b' }, { key: 'c' }]

test('[I8] [I10] a limit that is larger than all handlers of a worker is not what keeps its runs waiting', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, meter, telemetry } = await openWorker(handler, { concurrency: 2 })
  const told: string[] = []
  telemetry.on('work.held', ({ why }) => told.push(why))
  await pool.limit({ pool: { concurrency: 50, rate: { count: 50, per: '1s' } } })
  await pool.putAll(THREE)
  for (let ended = 0; ended < 3; ended += 1) {
    await clock.advance(2000)
    const sight = meter.pools()[0]?.worker
    assert.deepEqual(
      [sight?.running, sight?.reached, sight?.heldBack(RUN)],
      [Math.min(2, 3 - ended), null, null],
    )
    calls[ended]?.end()
  }
  await clock.advance(10)
  assert.deepEqual(told, [])
  await worker.service.stop()
})

test('[I8] [I10] a limit that is less than the handlers of a worker is, with what the worker has of it', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, meter, telemetry } = await openWorker(handler, { concurrency: 4 })
  const told: string[] = []
  telemetry.on('work.held', ({ why }) => told.push(why))
  await pool.limit({ pool: { concurrency: 2 } })
  await pool.putAll(THREE)
  await clock.advance(900)
  const sight = meter.pools()[0]?.worker
  const limit = { kind: 'concurrency', scope: 'pool', share: 2 }
  assert.deepEqual(sight?.reached, { ...limit, limit: 2, perMs: null })
  assert.deepEqual([sight?.heldBack(RUN), told], [{ ...limit, inMs: null }, ['pool_full']])
  for (let ended = 0; ended < 3; ended += 1) {
    calls[ended]?.end()
    await clock.advance(100)
  }
  await worker.service.stop()
})

test('[I8] [L17] where another member has some of the limit, what is left for this one is told', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, store, worker, meter } = await openWorker(handler, { concurrency: 4 })
  await pool.limit({ pool: { concurrency: 3 } })
  const { control: steers } = store.pool
  const { version, control } = await steers.read('work')
  const others = { has: 2, wants: 2, cut: null }
  const share = { member: 'other', seenIn: 0, endsAt: null, concurrency: others, rate: others }
  await steers.write('work', version, { ...control, shares: [share] })
  await pool.putAll(THREE)
  await clock.advance(900)
  const { running, reached } = meter.pools()[0]?.worker ?? {}
  const limit = { kind: 'concurrency', scope: 'pool', limit: 3, perMs: null, share: 1 }
  assert.deepEqual([running, reached], [1, limit])
  await pool.limit({ pool: null })
  await clock.advance(100)
  for (const { end } of calls) end()
  await clock.advance(100)
  await worker.service.stop()
})
