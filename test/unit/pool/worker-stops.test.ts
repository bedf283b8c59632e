// A stop while the store does not answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenWorker } from './open-worker.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

/** How long the stop takes, and the hand-over after it, by the clock. */
async function stopOf({ clock, worker, ownership }: OpenWorker): Promise<number> {
  const began = clock.mono()
  let tookMs = Infinity
  const stop = async (): Promise<void> => {
    await worker.service.stop()
    await ownership.idle([0], 30_000)
    tookMs = clock.mono() - began
  }
  void stop()
  await clock.advance(120_000)
  return tookMs
}

const never = (): Promise<never> => new Promise(() => undefined)

test('[X17] a stop does not wait for a take that is not answered', async () => {
  let hangs = false
  const open = await openWorker(() => undefined, {
    entries: (entries) => ({ take: (...asked) => (hangs ? never() : entries.take(...asked)) }),
  })
  hangs = true
  await open.pool.put('a')
  await open.clock.advance(100)
  assert.equal(await stopOf(open), 0)
})

test('[X17] a stop waits for `drainWithin` and two seconds at most, though settles are not answered', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler, { drainWithinMs: 5000, entries: () => ({ settle: never }) })
  await open.pool.putAll([{ key: 'a' }, { key: 'b' }])
  await open.clock.advance(100)
  calls[0]?.end()
  await open.clock.advance(100)
  assert.equal(await stopOf(open), 7000)
  calls[1]?.end()
  await open.clock.advance(5000)
  assert.equal(open.clock.pending, 0)
})

test('[X17] a stop does not wait for a store that does not tell the limits', async () => {
  const open = await openWorker(() => undefined, { control: () => ({ read: never }) })
  assert.equal(await stopOf(open), 0)
})

test('[X17] a stop waits a second at most for a store that does not take a share back', async () => {
  let hangs = false
  const open = await openWorker(() => undefined, {
    control: (control) => ({ read: (pool) => (hangs ? never() : control.read(pool)) }),
  })
  await open.pool.limit({ pool: { concurrency: 5 } })
  await open.pool.put('a')
  await open.clock.advance(2000)
  assert.equal(await open.pool.get('a'), null)
  hangs = true
  assert.equal(await stopOf(open), 1000)
})

test('[X17] the answer of a settle that comes after the stop harms nothing', async () => {
  let answer: () => void = () => undefined
  const open = await openWorker(() => undefined, {
    entries: (entries) => ({
      settle: async (...asked) => {
        await new Promise<void>((resolve) => (answer = resolve))
        return entries.settle(...asked)
      },
    }),
  })
  await open.pool.put('a')
  await open.clock.advance(100)
  assert.equal(await stopOf(open), 1000)
  answer()
  await open.clock.advance(100)
  assert.equal(await open.pool.get('a'), null)
})

test('[X17] a handler that stops its worker before it first waits is waited for, and counts as running', async () => {
  const seen: number[] = []
  let stopped = false
  const handler = async (): Promise<void> => {
    seen.push(open.worker.running)
    void open.worker.service.stop().then(() => (stopped = true))
    await open.clock.sleep(5000)
  }
  const open = await openWorker(handler)
  await open.pool.put('a')
  await open.clock.advance(4000)
  assert.deepEqual([seen, open.worker.running, stopped], [[1], 1, false])
  await open.clock.advance(2000)
  assert.deepEqual([open.worker.running, stopped, await open.pool.get('a')], [0, true, null])
})

test('[X17] one that stops its worker and throws at once has ended, and is not waited for', async () => {
  const open = await openWorker(() => {
    void open.worker.service.stop()
    throw new Error('no')
  })
  await open.pool.put('a')
  await open.clock.advance(3000)
  assert.deepEqual([open.worker.running, (await open.pool.get('a'))?.attempt], [0, 1])
})
