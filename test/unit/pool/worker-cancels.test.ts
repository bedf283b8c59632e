// Cancels of entries whose runs are on their way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunAborted } from '../../../src/pool/run.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import type { Entries } from '../../../src/pool/store.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

test('[X24] a cancel fires the signal of the run under way, and what it throws is no failure', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, telemetry, ownership } = await openWorker(handler)
  const failed: unknown[] = []
  telemetry.on('run.failed', (event) => failed.push(event))
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(10)
  const signals = calls.map(({ ctx }) => ctx.signal)
  assert.equal(await pool.cancel('a'), 'due')
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  )
  const { reason } = signals[0] as { reason: unknown }
  assert.ok(reason instanceof RunAborted && reason.why === 'cancel')
  await pool.put('a')
  await clock.advance(10)
  assert.equal(calls.length, 2)
  calls[0]?.fail(reason)
  calls[1]?.end()
  await clock.advance(10)
  assert.deepEqual([failed, calls[2]?.run.key, calls[2]?.ctx.attempt], [[], 'a', 1])
  calls[2]?.end()
  await clock.advance(10)
  await worker.service.stop()
  await ownership.idle([0], 0)
  assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
})

test('[X24] what was taken and waits for a handler, or behind its key, does not start after a cancel', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { mode: 'each', concurrency: 1 })
  await pool.putAll([
    { key: 'a', at: START - 3 },
    { key: 'a', at: START - 2 },
    { key: 'a', at: START - 1 },
    { key: 'b', at: START },
    { key: 'c', at: START },
  ])
  await clock.advance(100)
  await pool.cancel('a', START - 2)
  await pool.cancel('b')
  assert.equal(calls[0]?.ctx.signal.aborted, false)
  for (let nth = 0; nth < 3; nth += 1) {
    calls[nth]?.end()
    await clock.advance(1000)
  }
  assert.deepEqual(calls.map(({ run }) => `${run.key} ${START - Number(run.at)}`).toSorted(), [
    'a 1',
    'a 3',
    'c 0',
  ])
  await worker.service.stop()
})

test('[X24] a run that was taken after the cancel was sent is not the one that was cancelled', async () => {
  const { handler, calls } = waitingHandler()
  let answer: () => void = () => undefined
  const { clock, pool, worker } = await openWorker(handler, {
    entries: (entries) => ({
      cancel: async (...asked) => {
        const cancelled = await entries.cancel(...asked)
        await new Promise<void>((resolve) => (answer = resolve))
        return cancelled
      },
    }),
  })
  await pool.put('a', { in: '1h' })
  const cancelling = pool.cancel('a')
  await clock.advance(1)
  await pool.put('a')
  await clock.advance(10)
  answer()
  assert.deepEqual([await cancelling, calls.length, calls[0]?.ctx.signal.aborted], ['cancelled', 1, false])
  calls[0]?.end()
  await clock.advance(10)
  assert.equal(await pool.get('a'), null)
  await worker.service.stop()
})

test('[X24] [L13] when a run is cancelled that its group had room for, the next of the group has its place at once', async () => {
  const { handler, calls } = waitingHandler()
  const { promise: never } = Promise.withResolvers<never>()
  let isDown = false
  const entries = (inner: Entries): Partial<Entries> => ({
    take: (...asked) => (isDown ? never : inner.take(...asked)),
  })
  const { clock, pool, worker } = await openWorker(handler, { concurrency: 2, entries })
  const started = (): string => calls.map(({ run }) => run.key).join('')
  await pool.limit({ group: { concurrency: 1 } })
  await pool.putAll(['a', 'b', 'c'].map((key) => ({ key, group: 'g' })))
  await clock.advance(10)
  await pool.putAll(['v', 'x', 'y', 'z'].map((key) => ({ key, lane: 'fanout' as const })))
  await clock.advance(1500)
  isDown = true
  calls[0]?.end()
  await clock.advance(1)
  assert.equal(started(), 'avx')
  await pool.cancel('b')
  for (let nth = 1; nth < calls.length && !started().includes('c'); nth += 1) {
    calls[nth]?.end()
    await clock.advance(1)
  }
  assert.match(started(), /c/)
  for (const call of calls) call.end()
  await clock.advance(10)
  await worker.service.stop()
})
