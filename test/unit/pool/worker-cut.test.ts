// A store that answers fewer runs than it was asked for, and says from when on more is due.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutOf } from '../../../src/pool/lane-hold.ts'
import type { Taken, TakeRequest } from '../../../src/pool/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openWorker, waitingHandler } from './open-worker.ts'

/** Answers what is due in the first three quarters of the moments that a limit has met. */
function cutShort(taken: Taken, { limit, mayCut }: TakeRequest): Taken {
  const moments = [...new Set(taken.runs.map(({ dueAt }) => dueAt))]
  if (mayCut !== true || taken.runs.length < limit || moments.length < 4) return taken
  const cutAt = moments[Math.floor(moments.length * 0.75)] as number
  return { ...taken, runs: taken.runs.filter(({ dueAt }) => dueAt < cutAt), cutAt }
}

test('[X7] [D5] a worker goes on where the store cut its answer, at once, and reads nothing twice', async () => {
  const seen: string[] = []
  let read = 0
  const { clock, pool, worker, takes, grant } = await openWorker((run) => void seen.push(run.key), {
    held: [],
    entries: (entries) => ({
      take: async (name, request) => {
        const taken = cutShort(await entries.take(name, request), request)
        read += taken.runs.length
        return taken
      },
    }),
  })
  const keys = Array.from({ length: 5000 }, (_, nth) => `k${nth}`)
  await pool.putAll(keys.map((key, nth) => ({ key, at: START + Math.floor(nth / 10) * 10 })))
  await clock.advance(6000)
  assert.equal(seen.length, 0)
  await grant([0], 1)
  await clock.advance(100)
  assert.deepEqual(seen.toSorted(), keys.toSorted())
  assert.ok(read < 5500, `${read} runs were read`)
  assert.ok(takes.length < 100, `${takes.length} takes`)
  await worker.service.stop()
})

test('[D5] a limit that was met cuts at the last run, and one that was not cuts nothing, unless the store says so', () => {
  const runs = [3, 5, 4].map((dueAt) => ({ dueAt })) as Taken['runs']
  const taken = { now: 9, runs, nextDueAt: null }
  assert.deepEqual([cutOf(taken, 3), cutOf(taken, 4), cutOf({ ...taken, cutAt: 7 }, 4)], [5, null, 7])
})

test('[X7] runs in flight, of which a cut answer may be full, keep no handler from those that are due after them', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, worker } = await openWorker(handler, {
    concurrency: 50,
    entries: (entries) => ({
      take: async (name, request) => cutShort(await entries.take(name, request), request),
    }),
  })
  const ahead = (count: number): number[] => Array.from({ length: count }, (_, nth) => clock.now() + 1 + nth)
  await pool.putAll(ahead(40).map((at) => ({ key: `first ${at}`, at })))
  await clock.advance(60)
  assert.equal(calls.length, 40)
  await pool.putAll(ahead(15).map((at) => ({ key: `then ${at}`, at })))
  await clock.advance(40)
  assert.equal(calls.length, 50)
  for (let nth = 0; nth < calls.length; nth += 1) {
    calls[nth]?.end()
    await clock.advance(1)
  }
  assert.equal(calls.length, 55)
  await worker.service.stop()
})
