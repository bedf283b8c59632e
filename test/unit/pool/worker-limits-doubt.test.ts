// Pause and limits, as a worker keeps them that was in doubt, or that a pulse did not ask for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Control } from '../../../src/pool/control.ts'
import type { ControlStore } from '../../../src/pool/store.ts'
import { type OpenWorker, openWorker, waitingHandler } from './open-worker.ts'

/** No hint comes: it knows only what it reads, and what pulses tell. */
const deaf = (): (() => void) => () => undefined

/** What a pulse told that asked for the pool, or did not. */
async function pulse({ store, worker, clock }: OpenWorker, { isAsked }: { isAsked: boolean }): Promise<void> {
  const told = await store.pulse({ beat: null, pools: isAsked ? worker.ask() : [] })
  worker.notice(told, clock.now())
}

test('[L12] a pause that was set while a worker was in doubt holds when it is trusted again', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await openWorker(handler, { concurrency: 1, trustMs: 2500, watch: deaf })
  const { clock, pool, worker, ownership, trust } = opened
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(1000)
  await pulse(opened, { isAsked: true })
  await clock.advance(2000)
  assert.equal(calls[0]?.ctx.signal.aborted, true)
  calls[0].fail(calls[0].ctx.signal.reason)
  await clock.advance(10)
  await pool.pause()
  await clock.advance(10_000)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  ownership.wake()
  await clock.advance(10)
  assert.equal(calls.length, 1)
  await pulse(opened, { isAsked: true })
  await clock.advance(500)
  assert.equal(calls.length, 1)
  await pool.resume()
  await pulse(opened, { isAsked: true })
  await clock.advance(500)
  assert.equal(calls.length, 2)
  calls[1]?.end()
  await clock.advance(10)
  assert.equal(calls.length, 3)
  calls[2]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

/** What the worker has of the concurrency of its pool. */
function hasOf({ shares }: Control): number {
  return shares.find(({ member }) => member === 'me')?.concurrency.has ?? 0
}

test('[L17] [L20] a share is not given back while it is used, though a pulse did not ask; it is when all has ended', async () => {
  const { handler, calls } = waitingHandler()
  const written: number[] = []
  const control = ({ write }: ControlStore): Partial<ControlStore> => ({
    write(pool, version, after) {
      written.push(hasOf(after))
      return write.call(this, pool, version, after)
    },
  })
  const opened = await openWorker(handler, { concurrency: 2, control })
  const { clock, pool, store, worker, ownership } = opened
  await pool.limit({ pool: { concurrency: 2 } })
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(1000)
  assert.deepEqual([calls.length, hasOf((await store.pool.control.read('work')).control)], [2, 2])
  written.length = 0
  await pulse(opened, { isAsked: false })
  await clock.advance(1000)
  assert.deepEqual(written, [])
  ownership.drop()
  for (const { end } of calls) end()
  await clock.advance(10)
  await pulse(opened, { isAsked: false })
  await clock.advance(100)
  assert.equal(hasOf((await store.pool.control.read('work')).control), 0)
  await worker.service.stop()
})

test('[L20] what is not used is given back beside a run that goes on, also if the first write came too late', async () => {
  const { handler, calls } = waitingHandler()
  let inWay = 0
  const control = (inner: ControlStore): Partial<ControlStore> => ({
    write: async (pool, version, after) => (inWay-- > 0 ? null : inner.write(pool, version, after)),
  })
  const opened = await openWorker(handler, { concurrency: 5, control })
  const { clock, pool, store, worker, ownership } = opened
  const has = async (): Promise<number> => hasOf((await store.pool.control.read('work')).control)
  await pool.limit({ pool: { concurrency: 5 } })
  await pool.putAll(['a', 'b', 'c', 'd', 'e'].map((key) => ({ key })))
  await clock.advance(1000)
  for (const { end } of calls.slice(1)) end()
  ownership.drop()
  inWay = 1
  await pulse(opened, { isAsked: false })
  await clock.advance(200)
  assert.equal(await has(), 1)
  calls[0]?.end()
  await clock.advance(200)
  assert.equal(await has(), 0)
  await worker.service.stop()
})

test('[L17] [L20] a stop keeps the share of a handler that ignored its timeout and still runs', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await openWorker(handler, { concurrency: 2, timeout: 200 })
  const { clock, pool, store, worker } = opened
  const has = async (): Promise<number> => hasOf((await store.pool.control.read('work')).control)
  await pool.limit({ pool: { concurrency: 2 } })
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(100)
  calls[1]?.end()
  await clock.advance(2000)
  assert.equal(worker.running, 1)
  await worker.service.stop()
  assert.equal(await has(), 1)
  calls[0]?.end()
})

test('[L12] a store that has lost the last it answered is believed', async () => {
  const { handler, calls } = waitingHandler()
  let back = 0
  const control = (inner: ControlStore): Partial<ControlStore> => ({
    async read(pool) {
      const found = await inner.read(pool)
      return { ...found, version: found.version - back }
    },
  })
  const opened = await openWorker(handler, { trustMs: 2500, watch: deaf, control })
  const { clock, pool, worker, ownership, trust } = opened
  await pool.pause()
  await pool.resume()
  await pulse(opened, { isAsked: true })
  await clock.advance(3000)
  back = 2
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  ownership.wake()
  await pool.put('a')
  await pulse(opened, { isAsked: true })
  await clock.advance(500)
  assert.equal(calls.length, 1)
  calls[0]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[T6] a pool that was of ticks, and is worked on, may be limited again', async () => {
  const { clock, pool, worker, store } = await openWorker(() => undefined, { held: [] })
  const { version, control } = await store.pool.control.read('work')
  await store.pool.control.write('work', version, { ...control, isTicks: true })
  await assert.rejects(pool.limit({ pool: { concurrency: 2 } }), { code: 'invalid_options' })
  await worker.service.stop()
  const next = await openWorker(() => undefined, { open: async () => store })
  await next.pool.put('a')
  await next.clock.advance(100)
  await clock.advance(100)
  await next.pool.limit({ pool: { concurrency: 2 } })
  await next.worker.service.stop()
})
