// What a handler tells of its run, through the worker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const name = { key: 'a', slot: null }

test('[Z6] the latest value of a run is written once a second, and forgotten when it ends', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, store, worker } = await openWorker(handler)
  const { progress } = store.pool
  const written: number[] = []
  const tell = progress.tell.bind(progress)
  progress.tell = (...args) => {
    written.push(clock.now() - START)
    return tell(...args)
  }
  await pool.put('a')
  await clock.advance(10)
  const [call] = calls
  for (let step = 1; step <= 25; step += 1) {
    call?.ctx.progress({ step })
    await clock.advance(100)
  }
  assert.deepEqual(written.length, 2)
  assert.ok((written[1] ?? 0) - (written[0] ?? 0) >= 1000)
  assert.equal((await progress.read('work', name))?.progress, '{"step":20}')
  call?.ctx.progress('last')
  call?.end()
  await clock.advance(5000)
  call?.ctx.progress('too late')
  await clock.advance(5000)
  assert.deepEqual([written.length, await progress.read('work', name)], [2, null])
  await worker.service.stop()
})

test('[Z6] a write that fails is not repeated and harms no run, and the next value is written', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, store, worker } = await openWorker(handler)
  const { progress } = store.pool
  const tell = progress.tell.bind(progress)
  let failures = 1
  progress.tell = (...args) => {
    failures -= 1
    return failures >= 0 ? Promise.reject(new Error('no store')) : tell(...args)
  }
  await pool.put('a')
  await clock.advance(10)
  calls[0]?.ctx.progress(1)
  await clock.advance(3000)
  assert.equal(await progress.read('work', name), null)
  calls[0]?.ctx.progress(2)
  await clock.advance(1000)
  assert.equal((await progress.read('work', name))?.progress, '2')
  calls[0]?.end()
  await clock.advance(100)
  assert.equal(await pool.get('a'), null)
  await worker.service.stop()
})

test('[Z5] a run that has outlived its epoch does not keep one of the later epoch from telling', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, store, worker, grant } = await openWorker(handler)
  await pool.put('b')
  await clock.advance(10)
  await grant([0], 2)
  await pool.put('a')
  await clock.advance(10)
  const [before, now] = calls
  now?.ctx.progress('now')
  before?.ctx.progress('before')
  await clock.advance(1000)
  assert.equal((await store.pool.progress.read('work', name))?.progress, '"now"')
  for (const { end } of calls) end()
  await clock.advance(100)
  for (const { end } of calls) end()
  await clock.advance(100)
  await worker.service.stop()
})

test('[Z6] what JSON cannot hold, or is large, is refused where it is told', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler)
  await pool.put('a')
  await clock.advance(10)
  assert.throws(() => calls[0]?.ctx.progress(1n), { code: 'invalid_input' })
  assert.throws(() => calls[0]?.ctx.progress('x'.repeat(20_000)), { code: 'invalid_input' })
  calls[0]?.end()
  await clock.advance(100)
  await worker.service.stop()
})
