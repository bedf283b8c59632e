// How runs end: failures, timeouts, lost partitions, stops, and a store that does not answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { dead, retry } from '../../../src/pool/answer.ts'
import { RunAborted } from '../../../src/pool/run.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

test('[X11] [X12] a handler that throws is tried again later and later, and dead at its last attempt', async () => {
  const attempts: [number, number][] = []
  const failing = (_: unknown, ctx: { attempt: number }): never => {
    attempts.push([clock.now() - START, ctx.attempt])
    throw new TypeError('no')
  }
  const { clock, pool, worker, store, telemetry } = await openWorker(failing, {
    retry: { attempts: 3, first: '10s' },
  })
  const failures: unknown[] = []
  telemetry.on('run.failed', ({ key, attempt, isDead }) => failures.push([key, attempt, isDead]))
  await clock.advance(10)
  await pool.put('a', { payload: 7 })
  await clock.advance(60_000)
  assert.deepEqual(
    attempts.map(([, attempt]) => attempt),
    [1, 2, 3],
  )
  const [first = 0, second = 0, third = 0] = attempts.map(([at]) => at)
  assert.ok(second - first >= 5000 && second - first <= 10_000, `${second - first}`)
  assert.ok(third - second >= 10_000 && third - second <= 20_000, `${third - second}`)
  assert.deepEqual(failures, [
    ['a', 1, false],
    ['a', 2, false],
    ['a', 3, true],
  ])
  const [death] = await store.pool.browse.deaths('work', 10)
  assert.deepEqual([death?.key, death?.payload, death?.seen, death?.reason], ['a', '7', 1, 'attempts'])
  assert.match(death?.error ?? '', /TypeError: no/)
  assert.equal((await pool.get('a'))?.state, 'dead')
  await worker.service.stop()
})

test('[X11] a handler may ask for a retry at a time of its own, and may give up', async () => {
  const { clock, pool, worker, store } = await openWorker((_, { attempt }) =>
    attempt === 1 ? retry('1h') : dead('unknown customer'),
  )
  await pool.put('a')
  await clock.advance(3_599_000)
  assert.equal((await pool.get('a'))?.state, 'backing-off')
  await clock.advance(2000)
  const [death] = await store.pool.browse.deaths('work', 10)
  assert.deepEqual([death?.reason, death?.error], ['unknown customer', null])
  await worker.service.stop()
})

test('[X13] a run that takes longer than its timeout is aborted, and its throw is a failure', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { timeout: '2m' })
  await pool.putAll([{ key: 'a' }, { key: 'b' }, { key: 'c' }])
  await clock.advance(100)
  const signals = calls.map(({ ctx }) => ctx.signal)
  calls[2]?.end()
  await clock.advance(119_000)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false, false],
  )
  await clock.advance(1000)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true, false],
  )
  const { reason } = signals[0] as { reason: unknown }
  assert.ok(reason instanceof RunAborted && reason.why === 'timeout')
  calls[0]?.fail(reason)
  calls[1]?.end()
  await clock.advance(10)
  assert.deepEqual([(await pool.get('a'))?.attempt, await pool.get('b')], [1, null])
  await worker.service.stop()
})

test('[X14] lost ownership costs no attempt, and the run is due as before', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, grant } = await openWorker(handler)
  await pool.put('a')
  await clock.advance(60_000)
  const { signal } = calls[0]?.ctx ?? {}
  await grant([], 1)
  assert.ok(signal?.reason instanceof RunAborted && signal.reason.why === 'lost')
  calls[0]?.fail(signal.reason)
  await clock.advance(10)
  assert.deepEqual([(await pool.get('a'))?.attempt, calls.length], [0, 1])
  await grant([0], 2)
  await clock.advance(10)
  assert.deepEqual([calls.length, calls[1]?.ctx.attempt, calls[1]?.ctx.latenessMs], [2, 1, 60_010])
  calls[1]?.end()
  await clock.advance(10)
  assert.equal(await pool.get('a'), null)
  await worker.service.stop()
})

test('[X8] [V10] a run that was let go in doubt runs again, though it is older than a sweep looks back', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, trust, ownership } = await openWorker(handler, { trustMs: 60_000 })
  await pool.put('a')
  for (const at of [20_000, 40_000]) {
    await clock.advance(20_000)
    await pool.put(`at ${at}`)
    await clock.advance(10)
    calls.at(-1)?.end()
  }
  await clock.advance(20_000)
  calls[0]?.fail(calls[0].ctx.signal.reason)
  await clock.advance(10)
  assert.equal(calls.length, 3)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  ownership.wake()
  await clock.advance(10)
  assert.deepEqual([calls.length, calls[3]?.run.key, calls[3]?.ctx.attempt], [4, 'a', 1])
  calls[3]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[X14] a run that ended when its partition was another’s is not settled', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, grant } = await openWorker(handler)
  await pool.put('a')
  await clock.advance(10)
  await grant([], 1)
  calls[0]?.end()
  await clock.advance(10)
  assert.equal((await pool.get('a'))?.state, 'due')
  await worker.service.stop()
})

test('[X15] a settle that failed is sent again until it is answered, and the handler is not called again', async () => {
  const { handler, calls } = waitingHandler()
  let failures = 5
  const { clock, pool, worker, telemetry } = await openWorker(handler, {
    entries: (entries) => ({
      settle: (name, settlements, claim) => {
        failures -= 1
        if (failures >= 0) return Promise.reject(new HeadraceError('store_failed', 'connection lost'))
        return entries.settle(name, settlements, claim)
      },
    }),
  })
  const failed: (number | null)[] = []
  telemetry.on('work.failed', ({ retryInMs }) => failed.push(retryInMs))
  await pool.put('a')
  await clock.advance(10)
  calls[0]?.end()
  await clock.advance(10_000)
  assert.deepEqual([calls.length, await pool.get('a')], [1, null])
  assert.deepEqual(failed, [50, 100, 200, 400, 800])
  await worker.service.stop()
})

test('[X15] settles of one moment are one call, under the epochs of their takes', async () => {
  const claims: unknown[] = []
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, {
    partitions: 4,
    entries: (entries) => ({
      settle: (name, settlements, claim) => {
        claims.push([settlements.length, claim.owner, new Set(claim.held.map(({ epoch }) => epoch))])
        return entries.settle(name, settlements, claim)
      },
    }),
  })
  await pool.putAll(['a', 'b', 'c', 'd', 'e'].map((key) => ({ key })))
  await clock.advance(10)
  calls.forEach(({ end }) => end())
  await clock.advance(10)
  assert.deepEqual(claims, [[5, 'me', new Set([1])]])
  await worker.service.stop()
})

test('[X16] [H3] a partition that is to be handed over waits for its runs, and starts no others', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership } = await openWorker(handler, { concurrency: 1 })
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(10)
  const allotment = { resource: 'pool/work', partition: 0, owner: 'me', epoch: 1, since: 0, moves: 0 }
  ownership.follow([{ ...allotment, next: 'other' }])
  let isIdle = false
  void ownership.idle([0], 30_000).then(() => (isIdle = true))
  await clock.advance(20_000)
  assert.deepEqual([isIdle, calls.length, calls[0]?.ctx.signal.aborted], [false, 1, false])
  calls[0]?.end()
  await clock.advance(10)
  assert.deepEqual([isIdle, calls.length, await pool.get('a')], [true, 1, null])
  ownership.send([{ partition: 0, epoch: 1 }])
  await worker.service.stop()
})

test('[X17] a stop lets handlers end, settles them, starts no more, and leaves no timer', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership } = await openWorker(handler, { concurrency: 2, timeout: '1h' })
  await pool.putAll(['a', 'b', 'c', 'd'].map((key) => ({ key })))
  await clock.advance(10)
  const stopping = worker.service.stop()
  await clock.advance(5000)
  calls.forEach(({ end }) => end())
  await clock.advance(10)
  await stopping
  assert.deepEqual([calls.length, (await pool.count()).due, clock.pending], [2, 2, 0])
  await ownership.idle([0], 0)
})

test('[X17] after `drainWithin` a stop aborts what runs, which costs no attempt', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { drainWithinMs: 5000 })
  await pool.put('a')
  await clock.advance(10)
  const { signal } = calls[0]?.ctx ?? {}
  signal?.addEventListener('abort', () => calls[0]?.fail(signal.reason))
  const stopping = worker.service.stop()
  await clock.advance(4900)
  assert.equal(signal?.aborted, false)
  await clock.advance(200)
  await stopping
  assert.ok(signal.reason instanceof RunAborted && signal.reason.why === 'stop')
  assert.equal((await pool.get('a'))?.attempt, 0)
})

test('[X18] a handler that ignores its abort is reported, and its key stays in flight until it ends', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, telemetry } = await openWorker(handler, { timeout: '1s' })
  const ignored: unknown[] = []
  telemetry.on('run.ignored', ({ key, why }) => ignored.push([key, why]))
  await pool.put('a')
  await clock.advance(1500)
  await pool.cancel('a')
  await pool.put('a')
  await clock.advance(60_000)
  assert.deepEqual([ignored, calls.length, worker.running], [[['a', 'timeout']], 1, 1])
  calls[0]?.fail(new Error('at last'))
  await clock.advance(10)
  assert.equal(calls.length, 2)
  calls[1]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[X18] no stop waits for a handler that ignores its abort, and no hand-over after it', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership, telemetry } = await openWorker(handler, { drainWithinMs: 5000 })
  const ignored: unknown[] = []
  telemetry.on('run.ignored', ({ why }) => ignored.push(why))
  await pool.put('a')
  await clock.advance(10)
  const stopping = worker.service.stop()
  await clock.advance(6100)
  await stopping
  assert.deepEqual([ignored, worker.service.state], [['stop'], 'stopped'])
  let isIdle = false
  void ownership.idle([0], 30_000).then(() => (isIdle = true))
  await clock.advance(0)
  assert.equal(isIdle, true)
  calls[0]?.end()
  await clock.advance(1000)
  assert.equal((await pool.get('a'))?.state, 'due')
})
