// A worker that took partitions over from an owner that went without a word.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lane } from '../../../src/pool/entry.ts'
import type { Entries } from '../../../src/pool/store.ts'
import { held, none, underAnother } from './open-taken-over.ts'
import { waitingHandler } from './open-worker.ts'

test('[X44] [V19] each suspect is marked just before its own start, twice as many as were under way, and then none', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await underAnother(handler, none(8), { concurrency: 3 })
  const { clock, grant, marks, worker, pool } = opened
  await grant([0], 3)
  await clock.advance(100)
  assert.deepEqual([calls.length, marks.length], [3, 3])
  calls[0]?.end()
  await clock.advance(100)
  assert.deepEqual([calls.length, marks.length], [4, 4])
  while (worker.running > 0) {
    calls.forEach(({ end }) => end())
    await clock.advance(100)
  }
  assert.deepEqual([calls.length, marks.length], [8, 4])
  assert.ok(marks.every(({ crashes }) => crashes === 1))
  assert.equal((await pool.count()).dead, 0)
  await worker.service.stop()
})

test('[X44] [V18] suspects are counted in each lane by itself', async () => {
  const keys = { ...none(20), poison: 0 }
  const lane = (key: string): Lane => (key === 'poison' ? 'bulk' : 'fanout')
  const { clock, grant, marks, worker } = await underAnother(() => undefined, keys, { lane, concurrency: 1 })
  await grant([0], 3)
  await clock.advance(1000)
  assert.equal(marks.length, 5)
  assert.ok(marks.some(({ key }) => key === 'poison'))
  await worker.service.stop()
})

test('[X44] suspects that are gone by their mark leave their places to the next, also under a later epoch', async () => {
  let gone = 3
  const entries = (all: Entries): Partial<Entries> => ({
    mark: async (pool, marks, claim) => {
      if (claim.owner !== 'me' || gone-- <= 0) return all.mark(pool, marks, claim)
      for (const { key } of marks) await all.cancel(pool, { key })
      return marks.map(() => ({ result: 'gone', nextDueAt: null }))
    },
  })
  const opening = { entries, had: 1, concurrency: 1 }
  const { clock, grant, marks, worker, pool } = await underAnother(() => undefined, none(4), opening)
  await grant([0], 3)
  await clock.advance(1000)
  assert.deepEqual([marks.length, (await pool.count()).due], [4, 0])
  await grant([0], 4)
  await pool.putAll([{ key: 'x' }, { key: 'y' }])
  await clock.advance(1000)
  assert.deepEqual(
    marks.slice(4).map(({ key }) => key),
    ['x'],
  )
  assert.equal((await pool.count()).due, 0)
  await worker.service.stop()
})

test('[X44] after a hand-over, and in the normal course, nothing is marked', async () => {
  const { clock, grant, marks, worker, store, pool } = await underAnother(() => undefined, none(5))
  await store.fences.release('pool/work', { owner: 'other', held: held(2) })
  await grant([0], 3)
  await clock.advance(1000)
  assert.deepEqual([marks, (await pool.count()).due], [[], 0])
  await worker.service.stop()
})

test('[X45] [V19] with 2 crashes a run waits for the others, is marked when it is alone, and nothing starts beside it', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, grant, worker, crashesOf } = await underAnother(handler, { a: 0, b: 1, c: 1, d: 0 })
  const crashes = async (): Promise<unknown[]> => [await crashesOf('b'), await crashesOf('c')]
  const keys = (): string => calls.map(({ run }) => run.key).join(' ')
  await grant([0], 3)
  await clock.advance(2000)
  assert.deepEqual([keys(), await crashes()], ['a', [1, 1]])
  calls[0]?.end()
  await clock.advance(2000)
  assert.deepEqual([keys(), await crashes()], ['a b', [2, 1]])
  calls[1]?.end()
  await clock.advance(2000)
  assert.deepEqual([keys(), await crashes()], ['a b c', [undefined, 2]])
  calls[2]?.end()
  await clock.advance(2000)
  assert.equal(keys(), 'a b c d')
  calls[3]?.end()
  await clock.advance(100)
  await worker.service.stop()
})

test('[I8] [X45] a worker tells which run has its member to itself, from when it waits for that until its end', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, grant, worker, meter } = await underAnother(handler, { a: 0, b: 1, c: 0 })
  const sight = meter.pools()[0]?.worker
  await grant([0], 3)
  await clock.advance(2000)
  const alone = { pool: 'work', key: 'b' }
  assert.deepEqual([calls.length, sight?.alone], [1, alone])
  calls[0]?.end()
  await clock.advance(2000)
  assert.deepEqual([calls.length, sight?.alone, sight?.sight('c')?.phase], [2, alone, 'waiting'])
  calls[1]?.end()
  await clock.advance(100)
  assert.deepEqual([calls.length, sight?.alone], [3, null])
  calls[2]?.end()
  await clock.advance(100)
  await worker.service.stop()
})

test('[X46] with 3 crashes a run is dead without being started, and the others run', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await underAnother(handler, { poison: 2, innocent: 0 })
  const { clock, grant, worker, pool, crashesOf } = opened
  await grant([0], 3)
  await clock.advance(100)
  assert.deepEqual(
    calls.map(({ run }) => run.key),
    ['innocent'],
  )
  const [death] = await pool.dead.list()
  assert.deepEqual([death?.key, death?.reason, death?.error], ['poison', 'crashed', null])
  calls[0]?.end()
  await pool.dead.redrive('poison')
  assert.equal(await crashesOf('poison'), 0)
  await clock.advance(100)
  assert.deepEqual([calls.at(-1)?.run.key, await crashesOf('poison')], ['poison', 1])
  calls.at(-1)?.end()
  await clock.advance(100)
  await worker.service.stop()
})

test('[X47] a mark that fails is sent again, counts as in flight, and its run starts after the answer', async () => {
  const { handler, calls } = waitingHandler()
  let failures = 3
  const entries = (all: Entries): Partial<Entries> => ({
    mark: async (pool, marks, claim) => {
      if (claim.owner === 'me' && failures-- > 0) throw new Error('cut off')
      return all.mark(pool, marks, claim)
    },
  })
  const { clock, grant, worker, ownership, marks } = await underAnother(handler, none(1), { entries })
  await grant([0], 3)
  await clock.advance(20)
  assert.deepEqual([calls.length, worker.running], [0, 0])
  let isIdle = false
  const idle = ownership.idle([0], 60_000).then(() => (isIdle = true))
  await clock.advance(2000)
  assert.deepEqual([calls.length, marks.length, isIdle], [1, 4, false])
  assert.ok(marks.every(({ crashes }) => crashes === 1))
  calls[0]?.end()
  await clock.advance(100)
  await idle
  await worker.service.stop()
})

for (const lost of ['its partition is lost', 'its worker stops'] as const) {
  test(`[X47] a run that waits for its mark, or to be alone, is let go when ${lost}`, async () => {
    const { handler, calls } = waitingHandler()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const entries = (all: Entries): Partial<Entries> => ({
      mark: async (pool, marks, claim) => {
        const answers = await all.mark(pool, marks, claim)
        if (claim.owner === 'me') await promise
        return answers
      },
    })
    const opened = await underAnother(handler, { a: 0, b: 1 }, { entries, concurrency: 5 })
    const { clock, grant, worker, ownership, pool, crashesOf } = opened
    await grant([0], 3)
    await clock.advance(100)
    const stopping = lost === 'its worker stops' ? worker.service.stop() : grant([], 3)
    await clock.advance(100)
    resolve(undefined)
    await clock.advance(2000)
    await stopping
    await ownership.idle([0], 0)
    assert.deepEqual([calls.length, (await pool.count()).due, await crashesOf('b')], [0, 2, 1])
    await worker.service.stop()
  })
}

test('[X24] [X47] a run that waits for its mark, or to be alone, does not start after a cancel', async () => {
  const { handler, calls } = waitingHandler()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const entries = (all: Entries): Partial<Entries> => ({
    mark: async (pool, marks, claim) => {
      const answers = await all.mark(pool, marks, claim)
      if (claim.owner === 'me') await promise
      return answers
    },
  })
  const opened = await underAnother(handler, { a: 0, b: 1, c: 0 }, { entries, concurrency: 5 })
  const { clock, grant, worker, ownership, pool } = opened
  await grant([0], 3)
  await clock.advance(100)
  for (const key of ['a', 'b']) assert.equal(await pool.cancel(key), 'due')
  await clock.advance(100)
  resolve(undefined)
  await clock.advance(2000)
  assert.deepEqual(
    calls.map(({ run }) => run.key),
    ['c'],
  )
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(2000)
  assert.equal(calls.length, 3)
  calls.forEach(({ end }) => end())
  await clock.advance(100)
  await worker.service.stop()
  await ownership.idle([0], 0)
  assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
})

test('[X45] a run that does not heed its abort keeps nothing waiting', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await underAnother(handler, { suspect: 1, other: 0 }, { timeout: '5s', had: 1 })
  const { clock, grant, worker } = opened
  await grant([0], 3)
  await clock.advance(1000)
  while (calls.at(-1)?.run.key !== 'suspect') {
    calls.at(-1)?.end()
    await clock.advance(100)
  }
  const before = calls.length
  await opened.pool.put('later')
  await clock.advance(4000)
  assert.equal(calls.length, before)
  await clock.advance(3000)
  assert.ok(calls.some(({ run }) => run.key === 'later'))
  calls.forEach(({ end }) => end())
  await clock.advance(100)
  await worker.service.stop()
})
