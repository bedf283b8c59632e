// What becomes of runs whose end cannot be waited for: of a partition that may be lost, or of a handler that ignores its abort.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunAborted } from '../../../src/pool/run.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

test('[X16] what runs is aborted when the roster can be trusted no more, and settled if it ended all the same', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { trustMs: 2500 })
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(2400)
  const signals = calls.map(({ ctx }) => ctx.signal)
  assert.ok(signals.every(({ aborted }) => !aborted))
  await clock.advance(101)
  assert.ok(signals.every(({ reason }) => reason instanceof RunAborted && reason.why === 'lost'))
  calls[0]?.end()
  calls[1]?.fail(signals[1]?.reason)
  await clock.advance(10)
  assert.deepEqual([await pool.get('a'), (await pool.get('b'))?.attempt], [null, 0])
  await worker.service.stop()
})

test('[X16] with onDoubt finish a run goes on in doubt, and is aborted when its partition is known to be lost', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await openWorker(handler, { trustMs: 2500, onDoubt: 'finish' })
  const { clock, pool, worker, ownership } = opened
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(60_000)
  const signals = calls.map(({ ctx }) => ctx.signal)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false],
  )
  calls[0]?.end()
  await clock.advance(10)
  assert.equal(await pool.get('a'), null)
  ownership.drop()
  assert.ok(signals[1]?.reason instanceof RunAborted && signals[1].reason.why === 'lost')
  calls[1]?.fail(signals[1].reason)
  await clock.advance(10)
  assert.equal((await pool.get('b'))?.attempt, 0)
  await worker.service.stop()
})

test('[X18] no stop waits for a handler that has ignored its abort for long', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { timeout: '1s', drainWithinMs: 30_000 })
  await pool.put('stuck')
  await clock.advance(3000)
  assert.equal(calls[0]?.ctx.signal.aborted, true)
  await pool.put('other')
  await clock.advance(500)
  let isStopped = false
  const stopping = worker.service.stop().then(() => (isStopped = true))
  await clock.advance(400)
  assert.equal(isStopped, false)
  calls[1]?.end()
  await clock.advance(10)
  assert.equal(isStopped, true)
  await stopping
})
