// The loop that moves ticks, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint } from '../../../src/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { startLoop } from './open-ticks.ts'

test('[T2] a tick moves at its time, and the store is asked when it is due, not by polling', async () => {
  const { clock, ticks, movedAt, times } = await startLoop()
  await ticks.pool.put('a', { at: START + 3_600_000 })
  await clock.advance(3_600_000 + 10)
  assert.deepEqual(await times(), [3_600_000])
  assert.ok(movedAt.length <= 4, `the store was asked at ${movedAt.join(', ')}`)
  await ticks.service.stop()
})

test('[T2] a sooner tick brings the alarm forward', async () => {
  const { clock, ticks, times } = await startLoop()
  await ticks.pool.put('later', { at: START + 60_000 })
  await clock.advance(1000)
  await ticks.pool.put('sooner', { at: START + 1100 })
  await clock.advance(100)
  assert.deepEqual(await times(), [1100])
  await ticks.service.stop()
})

test('[T2] a tick in the year 9999 arms no timer that overflows, and asks for nothing', async () => {
  const { clock, ticks, movedAt } = await startLoop()
  await ticks.pool.put('a', { at: '9999-12-31T23:59:59Z' })
  await clock.advance(1000)
  const asked = movedAt.length
  await clock.advance(3_600_000)
  assert.equal(movedAt.length, asked)
  await ticks.service.stop()
})

test('[D4] a tick whose hint was lost is found by the next pulse', async () => {
  const { clock, store, ticks, times } = await startLoop({ watch: () => () => undefined })
  await clock.advance(100)
  await ticks.pool.put('a', { at: START + 150 })
  await clock.advance(400)
  assert.deepEqual(await times(), [])
  ticks.notice(await store.pulse({ beat: null, pools: ticks.asked }), clock.now())
  await clock.advance(0)
  assert.deepEqual(await times(), [500])
  await ticks.service.stop()
})

test('[D4] a tick that another process put is found by the hint that it wrote', async () => {
  let tell: (hint: Hint) => void = () => undefined
  const { clock, ticks, times } = await startLoop({
    watch: (listener) => {
      tell = listener
      return () => undefined
    },
  })
  await clock.advance(100)
  await ticks.pool.put('a', { at: START + 100 })
  tell({ kind: 'foreign' })
  await clock.advance(0)
  assert.deepEqual(await times(), [100])
  await ticks.service.stop()
})

test('[T1] a move that fails is tried again, later each time, and nothing is lost', async () => {
  let failures = 4
  const { clock, ticks, telemetry, movedAt, times } = await startLoop({
    mover: (mover) => ({
      move: (request) => {
        failures -= 1
        return failures >= 0 ? Promise.reject(new Error('the disk is full')) : mover.move(request)
      },
    }),
  })
  const retries: (number | null)[] = []
  const stop = telemetry.on('ticks.failed', ({ retryInMs }) => retries.push(retryInMs))
  await ticks.pool.put('a')
  await clock.advance(5000)
  assert.deepEqual(retries, [50, 100, 200, 400])
  assert.deepEqual((await times()).length, 1)
  const gaps = movedAt.slice(1, 5).map((at, index) => at - (movedAt[index] ?? 0))
  assert.ok(
    gaps.every((gap, index) => gap >= 50 * 2 ** index && gap < 100 * 2 ** index + 5),
    gaps.join(', '),
  )
  stop()
  await ticks.service.stop()
})

test('[T4] more ticks than one transaction takes move at once', async () => {
  const { clock, ticks, movedAt, times } = await startLoop()
  await clock.advance(50)
  const before = movedAt.length
  await ticks.pool.putAll(Array.from({ length: 2500 }, (_, n) => ({ key: `k${n}`, at: START + 100 })))
  await clock.advance(50)
  assert.deepEqual(new Set(await times()), new Set([100]))
  assert.deepEqual(
    movedAt.slice(before).filter((at) => at === 100),
    [100, 100, 100],
  )
  assert.equal((await ticks.topic.status()).bounds[0]?.head, 2500)
  await ticks.service.stop()
})

test('[T1] a stop ends the loop and leaves no timer, and later ticks stay where they are', async () => {
  const { clock, ticks, times } = await startLoop()
  await ticks.pool.put('a', { at: START + 50 })
  await ticks.service.stop()
  assert.equal(clock.pending, 0)
  await clock.advance(100)
  assert.deepEqual(await times(), [])
  assert.equal((await ticks.pool.count()).due, 1)
})
