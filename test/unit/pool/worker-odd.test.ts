// What handlers should not do, and do: the worker goes on, and tells.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, dead } from '../../../src/pool/answer.ts'
import type { Handler } from '../../../src/pool/run.ts'
import { openWorker } from './open-worker.ts'

const odd: Record<string, Handler> = {
  'an object that cannot be written': () => {
    throw Object.create(null)
  },
  'the same, late': async () => {
    await Promise.resolve()
    throw Object.create(null)
  },
  'an answer that was made by hand': () => ({ kind: 'again' }) as unknown as Answer,
  'a time that is none': () => ({ kind: 'again', when: { inMs: Number.NaN } }),
}

for (const [what, handler] of Object.entries(odd)) {
  test(`[X11] ${what} is a failure, and other runs go on`, async () => {
    const keys: string[] = []
    const { pool, worker, clock } = await openWorker(
      (run, ctx) => (run.key === 'odd' ? handler(run, ctx) : void keys.push(run.key)),
      { concurrency: 1, retry: { attempts: 2, first: '1s' } },
    )
    await pool.put('odd')
    await clock.advance(100)
    await pool.put('well')
    await clock.advance(100)
    assert.deepEqual(keys, ['well'])
    await clock.advance(5000)
    assert.equal((await pool.count()).dead, 1)
    await worker.service.stop()
  })
}

test('[X11] a reason that is no text is kept as one', async () => {
  const { pool, worker, clock } = await openWorker(() => dead(new Error('gone') as unknown as string))
  await pool.put('a')
  await clock.advance(100)
  assert.match((await pool.dead.list())[0]?.reason ?? '', /gone/)
  await worker.service.stop()
})

test('[X6] while slow runs of one lane take every handler, another lane has its turn when one ends', async () => {
  const started: { key: string; at: number }[] = []
  const { pool, worker, clock } = await openWorker(
    async ({ key }, { signal }) => {
      started.push({ key, at: clock.mono() })
      await clock.sleep(10_000, signal)
    },
    { concurrency: 5 },
  )
  await pool.putAll(Array.from({ length: 300 }, (_, nth) => ({ key: `bulk-${nth}`, lane: 'bulk' as const })))
  for (let nth = 0; nth < 12; nth += 1) {
    await clock.advance(20_000 + nth * 997)
    const putAt = clock.mono()
    await pool.put(`fanout-${nth}`, { lane: 'fanout' })
    await clock.advance(11_000)
    const run = started.find(({ key }) => key === `fanout-${nth}`)
    assert.ok(run !== undefined && run.at - putAt <= 10_100, `fanout-${nth} waits since ${putAt}`)
  }
  void worker.service.stop()
  await clock.advance(60_000)
})
