// Suspects under limits: no more are marked than may start.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitsOptions } from '../../../src/pool/control.ts'
import type { Pool } from '../../../src/pool/pool.ts'
import { none, underAnother } from './open-taken-over.ts'
import { waitingHandler } from './open-worker.ts'

const RATE = { count: 2, per: '1m' } as const

/** Each with a time in which two start; of a group that another had under a rate nothing starts for one span. */
const LIMITS: Record<string, [limits: LimitsOptions, withinMs: number]> = {
  'a group at once': [{ group: { concurrency: 2 } }, 100],
  'a group in time': [{ group: { rate: RATE } }, 70_000],
  'the pool at once': [{ pool: { concurrency: 2 } }, 1000],
  'the pool in time': [{ pool: { rate: RATE } }, 50_000],
}

for (const [what, [limits, withinMs]] of Object.entries(LIMITS)) {
  test(`[X44] [V19] under a limit of ${what} as many suspects are marked as start, and no other`, async () => {
    const { handler, calls } = waitingHandler()
    const options = { concurrency: 5, had: 10, group: 'g' }
    const { clock, grant, marks, worker, pool } = await underAnother(handler, none(8), options)
    await pool.limit(limits)
    await grant([0], 3)
    await clock.advance(withinMs)
    assert.deepEqual([calls.length, marks.length], [2, 2])
    for (const { end } of calls) end()
    await clock.advance(withinMs)
    assert.deepEqual([calls.length, marks.length], [4, 4])
    const stopped = worker.service.stop()
    await clock.advance(40_000)
    await stopped
  })
}

test('[L14] [X44] a suspect whose handler ends at once counts against a rate before others start', async () => {
  const started: string[] = []
  const handler = ({ key }: { key: string }): void => void started.push(key)
  const { clock, grant, worker, pool } = await underAnother(handler, none(8), { had: 2 })
  await pool.limit({ pool: { rate: RATE } })
  await grant([0], 3)
  await clock.advance(50_000)
  assert.equal(started.length, 2)
  await worker.service.stop()
})

test('[X44] a suspect that is cancelled while it is marked gives its place in its group to the next', async () => {
  const { handler, calls } = waitingHandler()
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, grant, marks, worker, pool } = await underAnother(handler, none(3), {
    concurrency: 5,
    group: 'g',
    entries: (entries) => ({
      mark: async (...asked) => {
        if (asked[2].owner === 'me') await promise
        return entries.mark(...asked)
      },
    }),
  })
  await pool.limit({ group: { concurrency: 1 } })
  await grant([0], 3)
  await clock.advance(100)
  await pool.cancel('k0')
  resolve()
  await clock.advance(100)
  assert.deepEqual([calls.map(({ run }) => run.key), marks.length], [['k1'], 2])
  const stopped = worker.service.stop()
  await clock.advance(40_000)
  await stopped
})

/** Each with how many of six suspects start, and are marked, where five wait while the first is marked. */
const SET_MEANWHILE: Record<string, [steer: (pool: Pool) => Promise<unknown>, count: number]> = {
  'a limit of a group': [(pool) => pool.limit({ group: { concurrency: 2 } }), 2],
  'a limit of the pool': [(pool) => pool.limit({ pool: { concurrency: 2 } }), 2],
  'a rate of the pool': [(pool) => pool.limit({ pool: { rate: RATE } }), 2],
  'a pause': [(pool) => pool.pause(), 0],
}

for (const [what, [steer, count]] of Object.entries(SET_MEANWHILE)) {
  test(`[X47] what waits to be marked is let go unmarked if ${what} keeps it from starting by then`, async () => {
    const { handler, calls } = waitingHandler()
    const { promise, resolve } = Promise.withResolvers<void>()
    const { clock, grant, marks, worker, pool } = await underAnother(handler, none(1), {
      concurrency: 8,
      had: 8,
      group: 'g',
      entries: (entries) => ({
        mark: async (...asked) => {
          if (asked[2].owner === 'me') await promise
          return entries.mark(...asked)
        },
      }),
    })
    await grant([0], 3)
    await clock.advance(100)
    await pool.putAll(['k1', 'k2', 'k3', 'k4', 'k5'].map((key) => ({ key, group: 'g' })))
    await clock.advance(100)
    await steer(pool)
    await clock.advance(1000)
    assert.equal(marks.length, 1)
    resolve()
    await clock.advance(1000)
    assert.deepEqual([calls.length, marks.length], [count, Math.max(1, count)])
    const stopped = worker.service.stop()
    await clock.advance(40_000)
    await stopped
  })
}
