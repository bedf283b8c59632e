// Pause and limits, as one worker keeps them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entries } from '../../../src/pool/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const keys = (calls: readonly { run: { key: string } }[]): string[] => calls.map(({ run }) => run.key)

test('[L12] nothing of a paused pool starts or is taken, what runs goes on, and a resume lets all start', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, takes, telemetry } = await openWorker(handler)
  const told: unknown[] = []
  telemetry.on('pool.paused', ({ by, reason }) => told.push([by, reason]))
  telemetry.on('pool.resumed', () => told.push('resumed'))
  telemetry.on('work.held', ({ why }) => told.push(why))
  await pool.put('before')
  await clock.advance(10)
  await pool.pause({ by: 'ann', reason: 'deploy' })
  const before = takes.length
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(60_000)
  assert.deepEqual([keys(calls), takes.length, calls[0]?.ctx.signal.aborted], [['before'], before, false])
  assert.deepEqual(await pool.paused(), {
    by: 'ann',
    reason: 'deploy',
    since: new Date(START + 10),
    until: null,
  })
  assert.equal(worker.limiter.why(), 'paused')
  assert.equal(await pool.resume(), true)
  await clock.advance(10)
  assert.deepEqual(keys(calls), ['before', 'a', 'b'])
  assert.deepEqual([await pool.resume(), await pool.paused()], [false, null])
  assert.deepEqual(told.slice(0, 3), ['paused', ['ann', 'deploy'], 'resumed'])
  for (const { end } of calls) end()
  await worker.service.stop()
})

test('[L12] what was taken and not started when a pause came is let go, and runs after it', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, ownership } = await openWorker(handler, { concurrency: 1 })
  await pool.putAll([{ key: 'a' }, { key: 'b' }, { key: 'c' }])
  await clock.advance(10)
  await pool.pause()
  calls[0]?.end()
  await clock.advance(20_000)
  assert.deepEqual(keys(calls), ['a'])
  let isIdle = false
  void ownership.idle([0], 1).then(() => (isIdle = true))
  await clock.advance(0)
  assert.equal(isIdle, true)
  await pool.resume()
  await clock.advance(10)
  calls[1]?.end()
  await clock.advance(10)
  assert.deepEqual(keys(calls), ['a', 'b', 'c'])
  calls[2]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[L12] a pause with an end is over then, by the store’s clock', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler)
  await pool.pause({ until: START + 90_000 })
  await pool.put('a')
  await clock.advance(89_990)
  assert.equal(calls.length, 0)
  await clock.advance(20)
  assert.equal(calls.length, 1)
  assert.equal(await pool.paused(), null)
  calls[0]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[L12] after a pulse that did not ask what steers its pool a worker starts what it took when the next one tells', async () => {
  const { handler, calls } = waitingHandler()
  const { promise: never } = Promise.withResolvers<never>()
  let isDown = false
  const entries = (inner: Entries): Partial<Entries> => ({
    take: (...asked) => (isDown ? never : inner.take(...asked)),
  })
  const { clock, pool, worker, store } = await openWorker(handler, { concurrency: 2, entries })
  await pool.putAll([{ key: 'a' }, { key: 'b' }, { key: 'c' }])
  await clock.advance(10)
  isDown = true
  await pool.put('d')
  await clock.advance(10)
  worker.notice(await store.pulse({ beat: null, pools: [] }), clock.now())
  calls[0]?.end()
  await clock.advance(10)
  assert.deepEqual([keys(calls), worker.inFlight], [['a', 'b'], 2])
  worker.notice(await store.pulse({ beat: null, pools: worker.ask() }), clock.now())
  await clock.advance(10)
  assert.deepEqual(keys(calls), ['a', 'b', 'c'])
  for (const { end } of calls) end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[L12] a worker reads what steers its pool before its first start', async () => {
  const { handler, calls } = waitingHandler()
  const first = await openWorker(handler, { held: [] })
  await first.pool.pause()
  await first.pool.put('a')
  await first.grant([0], 1)
  await first.clock.advance(5000)
  assert.equal(calls.length, 0)
  await first.worker.service.stop()
})

test('[L13] of a group no more than its limit run at once, and others are not kept waiting', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, { concurrency: 20 })
  await pool.limit({ group: { concurrency: 2 } })
  await pool.putAll(Array.from({ length: 500 }, (_, nth) => ({ key: `a${nth}`, group: 'a' })))
  await clock.advance(10)
  await pool.putAll([{ key: 'b' }, { key: 'c' }])
  await clock.advance(100)
  assert.deepEqual(keys(calls), ['a0', 'a1', 'b', 'c'])
  for (let ended = 0; ended < calls.length; ended += 1) {
    calls[ended]?.end()
    await clock.advance(1)
    const running = calls.slice(ended + 1).filter(({ run }) => run.key.startsWith('a'))
    assert.ok(running.length <= 2, `${running.length} at once`)
  }
  assert.deepEqual(
    [calls.length, await pool.count()],
    [502, { waiting: 0, due: 0, 'backing-off': 0, dead: 0 }],
  )
  await worker.service.stop()
})

test('[L16] what is beyond what waits aside is read again when there is room, in takes of bounded size', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, takes } = await openWorker(handler, { concurrency: 10 })
  await pool.limit({ group: { concurrency: 1 } })
  const flood = Array.from({ length: 2000 }, (_, nth) => ({ key: `a${nth}`, group: 'a' }))
  for (let nth = 0; nth < 2000; nth += 100) {
    await pool.putAll(flood.slice(nth, nth + 100))
    await clock.advance(1)
  }
  await clock.advance(30_000)
  const before = takes.length
  for (let ended = 0; ended < 1000; ended += 1) {
    calls[ended]?.end()
    await clock.advance(1)
  }
  assert.equal(calls.length, 1001)
  const back = takes.slice(before).filter(({ at }) => at > 30_000)
  const read = back.reduce((sum, { limit }) => sum + limit, 0)
  assert.ok(back.length < 200 && read < 20_000, `${back.length} takes of ${read} runs`)
  for (let ended = 1000; ended < 2000; ended += 1) {
    calls[ended]?.end()
    await clock.advance(1)
  }
  assert.deepEqual((await pool.count()).due, 0)
  await worker.service.stop()
})

test('[L14] of a group no more start in any span than may, at once what may, and others as they come', async () => {
  const starts: [string, number][] = []
  const { clock, pool, worker } = await openWorker(({ key }) => void starts.push([key, clock.mono()]))
  await pool.limit({ group: { rate: { count: 3, per: '1s' } } })
  await pool.putAll(Array.from({ length: 30 }, (_, nth) => ({ key: `a${nth}`, group: 'a' })))
  await clock.advance(50)
  await pool.put('b')
  await clock.advance(10_000)
  const times = starts.filter(([key]) => key.startsWith('a')).map(([, at]) => at)
  assert.equal(times.length, 30)
  for (const [nth, at] of times.entries()) assert.ok(nth < 3 || at - (times[nth - 3] ?? 0) > 1000)
  assert.ok((times[29] ?? 0) - (times[0] ?? 0) < 9100, `${times[29]}`)
  assert.ok(starts.some(([key, at]) => key === 'b' && at < 70))
  await worker.service.stop()
})

test('[L15] a new owner starts nothing of a group with a rate for one span, but the first one does', async () => {
  const starts: number[] = []
  const { clock, pool, worker, grant } = await openWorker(() => void starts.push(clock.mono()))
  await pool.limit({ group: { rate: { count: 3, per: '2s' } } })
  await pool.put('a')
  await clock.advance(10)
  assert.equal(starts.length, 1)
  await grant([], 1)
  await grant([0], 3)
  const from = clock.mono()
  await pool.put('b')
  await clock.advance(5000)
  assert.ok((starts[1] ?? 0) - from >= 2000 && (starts[1] ?? 0) - from < 2100, `${starts[1]}`)
  await worker.service.stop()
})

test('[L17] one member alone has the whole of a limit, and starts no more', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker, takes } = await openWorker(handler, { concurrency: 50 })
  await pool.limit({ pool: { concurrency: 7 } })
  const before = takes.length
  await pool.putAll(Array.from({ length: 100 }, (_, nth) => ({ key: `k${nth}` })))
  await clock.advance(200)
  assert.equal(calls.length, 7)
  assert.ok(takes.slice(before).every(({ limit }) => limit < 40))
  await pool.limit({ pool: { concurrency: 3 } })
  for (let ended = 0; ended < 5; ended += 1) calls[ended]?.end()
  await clock.advance(200)
  assert.equal(calls.length, 8)
  await pool.limit({ pool: { concurrency: null } })
  await clock.advance(200)
  assert.equal(calls.length, 55)
  for (let ended = 0; ended < 100; ended += 1) {
    calls[ended]?.end()
    await clock.advance(10)
  }
  await worker.service.stop()
})
