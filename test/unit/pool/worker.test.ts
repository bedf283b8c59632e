// A worker over memory and a virtual clock: what it takes, and in which order it runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partitionOf } from '../../../src/partition.ts'
import { again } from '../../../src/pool/answer.ts'
import type { Hint } from '../../../src/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

const many = (count: number): { key: string }[] => Array.from({ length: count }, (_, n) => ({ key: `k${n}` }))

test('[X1] at most `concurrency` handlers run at once, and the next starts when one ends', async () => {
  const { handler, calls } = waitingHandler()
  const { pool, worker, clock } = await openWorker(handler, { concurrency: 3 })
  await pool.putAll(many(10))
  await clock.advance(100)
  assert.deepEqual([calls.length, worker.running], [3, 3])
  calls[1]?.end()
  await clock.advance(100)
  assert.deepEqual([calls.length, worker.running], [4, 3])
  while (worker.running > 0) {
    calls.forEach(({ end }) => end())
    await clock.advance(100)
  }
  assert.deepEqual([calls.length, new Set(calls.map(({ run }) => run.key)).size], [10, 10])
  assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
  await worker.service.stop()
})

test('[X1] only partitions that are held are taken from, and what is done is gone', async () => {
  const keys: string[] = []
  const { pool, worker, clock, takes } = await openWorker(({ key }) => void keys.push(key), {
    partitions: 8,
    held: [1, 2, 5],
  })
  await pool.putAll(many(200))
  await clock.advance(100)
  assert.ok(takes.every(({ partitions }) => partitions?.join() === '1,2,5'))
  const held = many(200).filter(({ key }) => [1, 2, 5].includes(partitionOf(key, 8)))
  assert.deepEqual(keys.toSorted(), held.map(({ key }) => key).toSorted())
  assert.equal((await pool.count()).due, 200 - keys.length)
  await worker.service.stop()
})

test('[X1] a backlog of quick runs is taken in ever larger pieces', async () => {
  let done = 0
  const { pool, worker, clock, takes } = await openWorker(() => void (done += 1), { concurrency: 10 })
  await pool.putAll(many(5000))
  await clock.advance(200)
  assert.equal(done, 5000)
  const asked = takes.filter(({ lane }) => lane === 'normal')
  assert.ok(asked.length < 40, `${asked.length} takes`)
  assert.ok(Math.max(...asked.map(({ limit }) => limit)) <= 6000 + 18_010)
  await worker.service.stop()
})

test('[X1] of runs with long payloads fewer are taken at once', async () => {
  let done = 0
  const { pool, worker, clock, takes } = await openWorker(() => void (done += 1), { concurrency: 10 })
  const payload = 'x'.repeat(1_000_000)
  await pool.putAll(many(100).map((put) => ({ ...put, payload })))
  await clock.advance(200)
  assert.equal(done, 100)
  // 17 of them, beside those that wait for the answer to their settle.
  const most = Math.max(...takes.map(({ limit }) => limit))
  assert.ok(most <= 3 * 17, `${most} at once`)
  await worker.service.stop()
})

test('[X2] [V4] a key that was cancelled and put anew runs again only when its first run has ended', async () => {
  const { handler, calls } = waitingHandler()
  const { pool, worker, clock } = await openWorker(handler)
  await pool.put('a', { payload: 1 })
  await clock.advance(10)
  assert.equal(await pool.cancel('a'), 'due')
  await pool.put('a', { payload: 2 })
  await clock.advance(60_000)
  assert.equal(calls.length, 1)
  calls[0]?.end()
  await clock.advance(10)
  assert.deepEqual([calls.length, calls[1]?.run.payload], [2, 2])
  calls[1]?.end()
  await clock.advance(10)
  assert.equal(await pool.get('a'), null)
  await worker.service.stop()
})

test('[X2] [V11] slots of one key run one after another, the earliest first, and none is forgotten', async () => {
  const { handler, calls } = waitingHandler()
  const { pool, worker, clock } = await openWorker(handler, { mode: 'each' })
  for (const at of [30, 10, 20]) await pool.put('a', { at: START + at })
  await clock.advance(20_000)
  for (const nth of [0, 1, 2]) {
    assert.deepEqual([calls.length, worker.running], [nth + 1, 1])
    calls[nth]?.end()
    await clock.advance(20_000)
  }
  assert.deepEqual(
    calls.map(({ run }) => Number(run.at) - START),
    [10, 20, 30],
  )
  await worker.service.stop()
})

test('[X3] a slow take that still saw a settled run does not start it again', async () => {
  const { handler, calls } = waitingHandler()
  let hold: Promise<void> | null = null
  const { pool, worker, clock, takes } = await openWorker(handler, {
    entries: (entries) => ({
      take: async (name, request) => {
        const taken = await entries.take(name, request)
        if (request.lane === 'normal') await hold
        return taken
      },
    }),
  })
  await pool.put('a')
  await clock.advance(10)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  hold = promise
  await pool.put('b')
  await clock.advance(10)
  const before = takes.length
  calls[0]?.end()
  await clock.advance(10)
  assert.deepEqual([await pool.get('a'), takes.length], [null, before])
  resolve(undefined)
  await clock.advance(2000)
  assert.deepEqual(
    calls.map(({ run }) => run.key),
    ['a', 'b'],
  )
  calls[1]?.end()
  await worker.service.stop()
})

test('[X4] [V5] what a take of an earlier epoch answers is dropped, and taken anew under the later one', async () => {
  const { handler, calls } = waitingHandler()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let first = true
  const { worker, clock, pool, grant } = await openWorker(handler, {
    entries: (entries) => ({
      take: async (name, request) => {
        const taken = await entries.take(name, request)
        if (taken.runs.length > 0 && first) {
          first = false
          await promise
        }
        return taken
      },
    }),
  })
  await pool.put('a')
  await clock.advance(10)
  await grant([0], 3)
  resolve(undefined)
  await clock.advance(10)
  assert.deepEqual(
    calls.map(({ ctx }) => ctx.fence),
    [{ partition: 0, epoch: 3 }],
  )
  calls[0]?.end()
  await worker.service.stop()
})

test('[X5] nothing starts while the roster cannot be trusted, and goes on when it can', async () => {
  const { handler, calls } = waitingHandler()
  const { worker, clock, pool, trust, ownership, takes } = await openWorker(handler, { trustMs: 1000 })
  await clock.advance(1500)
  const asked = takes.length
  await pool.put('a')
  await clock.advance(1500)
  assert.deepEqual([calls.length, takes.length], [0, asked])
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  ownership.wake()
  await clock.advance(10)
  assert.equal(calls.length, 1)
  calls[0]?.end()
  await worker.service.stop()
})

test('[X6] runs of every lane are done, and a flood of one does not keep the others from starting', async () => {
  const { handler, calls } = waitingHandler()
  const { worker, clock, pool } = await openWorker(handler, { concurrency: 10 })
  await pool.putAll(many(500).map((put) => ({ ...put, lane: 'bulk' as const })))
  await clock.advance(10)
  await pool.putAll([{ key: 'f', lane: 'fanout' }, { key: 'n' }])
  await clock.advance(10)
  calls.slice(0, 2).forEach(({ end }) => end())
  await clock.advance(20)
  assert.deepEqual(
    calls.slice(10).map(({ run }) => run.key),
    ['f', 'n'],
  )
  const stopping = worker.service.stop()
  await clock.advance(0)
  calls.forEach(({ end }) => end())
  await clock.advance(10)
  await stopping
})

test('[X7] runs that cannot start do not hide others that are due at the same time', async () => {
  const { handler, calls } = waitingHandler()
  const { worker, clock, pool } = await openWorker(handler, { mode: 'each', concurrency: 2 })
  await pool.putAll(Array.from({ length: 300 }, (_, n) => ({ key: 'a', at: START - n })))
  await pool.put('z', { at: START })
  await clock.advance(1000)
  assert.deepEqual(
    calls.map(({ run }) => run.key),
    ['a', 'z'],
  )
  const stopping = worker.service.stop()
  await clock.advance(0)
  calls.forEach(({ end }) => end())
  await clock.advance(10)
  await stopping
})

test('[X8] a run that asked for another time runs again then, with its payload and tally 0', async () => {
  const runs: unknown[] = []
  const { worker, clock, pool } = await openWorker(({ payload, tally }) => {
    runs.push([clock.now() - START, payload, tally])
    return again('10m')
  })
  await clock.advance(10)
  await pool.put('a', { payload: { n: 1 } })
  await clock.advance(1_200_000)
  assert.deepEqual(runs, [
    [10, { n: 1 }, 1],
    [600_010, { n: 1 }, 0],
    [1_200_010, { n: 1 }, 0],
  ])
  await worker.service.stop()
})

test('[X10] a worker with nothing to do asks for nothing, and starts a run when it is due', async () => {
  const ranAt: number[] = []
  const { worker, clock, pool, takes } = await openWorker(() => void ranAt.push(clock.now() - START))
  await pool.putAll([1, 2, 3].map((hour) => ({ key: `h${hour}`, at: START + hour * 3_600_000 })))
  await clock.advance(10)
  takes.length = 0
  await clock.advance(3 * 3_600_000)
  assert.deepEqual(ranAt, [3_600_000, 7_200_000, 10_800_000])
  assert.ok(takes.length <= 24, `${takes.length} takes`)
  await worker.service.stop()
})

test('[X10] a run whose hint was lost is found by the pulse, also beside one that runs for long', async () => {
  const { handler, calls } = waitingHandler()
  let tell: (hint: Hint) => void = () => undefined
  const watch = (listener: (hint: Hint) => void): (() => void) => {
    tell = listener
    return () => undefined
  }
  const { worker, clock, pool, store } = await openWorker(handler, { watch })
  const pulse = async (): Promise<void> => {
    worker.notice(await store.pulse({ beat: null, pools: worker.ask() }), clock.now())
    await clock.advance(1)
  }
  await pool.put('a')
  await clock.advance(300)
  await pulse()
  assert.equal(calls.length, 1)
  await pool.put('b')
  await clock.advance(700)
  await pulse()
  assert.equal(calls.length, 2)
  await pool.put('c')
  tell({ kind: 'foreign' })
  await clock.advance(10)
  assert.equal(calls.length, 3)
  calls.forEach(({ end }) => end())
  await worker.service.stop()
})
