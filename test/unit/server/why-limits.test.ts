// /v1/why of what a pause or a limit keeps waiting, on a real server.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Pool } from '../../../src/pool/pool.ts'
import type { Handler } from '../../../src/pool/run.ts'
import { type Answer, LATER, ask, serve, until } from './serving.ts'

interface Asking {
  pool: Pool
  why(key: string): Promise<Answer['body']>
}

async function serveWork(t: TestContext, handler: Handler): Promise<Asking> {
  const serving = await serve(t, { race: { name: 'm1', drainWithin: 0 } })
  const pool = serving.race.pool('vms')
  serving.race.work(pool, handler)
  return { pool, why: async (key) => (await ask(serving, 'GET', `/v1/why?pool=vms&key=${key}`)).body }
}

test('[I8] of a paused pool it is told who paused it, why, and until when', async (t) => {
  const { pool, why } = await serveWork(t, () => undefined)
  await pool.pause({ by: 'ann', reason: 'a move', until: LATER })
  await pool.put('a')
  const found = await why('a')
  assert.deepEqual([found['state'], found['reason']], ['due', 'paused'])
  assert.deepEqual(found['evidence'], { by: 'ann', reason: 'a move', until: LATER })
  assert.equal(found['next'], 'headrace pool resume vms')
  await pool.resume()
  await until(async () => (await why('a'))['state'] === 'absent', 'its end')
})

test('[I8] what a limit of the pool at once keeps waiting meets a full pool, with the limit', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { pool, why } = await serveWork(t, () => promise)
  await pool.limit({ pool: { concurrency: 1 } })
  await pool.put('first')
  await until(async () => (await why('first'))['state'] === 'running', 'a run')
  await pool.put('second')
  const found = await why('second')
  assert.equal(found['reason'], 'pool_full')
  const evidence = { kind: 'concurrency', scope: 'pool', limit: 1, perMs: null, until: null }
  assert.deepEqual(found['evidence'], evidence)
  resolve()
  await until(async () => (await why('second'))['state'] === 'absent', 'its end')
})

test('[I8] what a rate of its group keeps waiting is told the rate, and when it may run', async (t) => {
  const { pool, why } = await serveWork(t, () => undefined)
  await pool.limit({ group: { rate: { count: 1, per: '1h' } } })
  await pool.put('first', { group: 'g' })
  await until(async () => (await why('first'))['state'] === 'absent', 'a run')
  await pool.put('second', { group: 'g' })
  const found = await why('second')
  assert.equal(found['reason'], 'rate_limited')
  const { until: at, ...limit } = found['evidence'] as Record<string, unknown>
  assert.deepEqual(limit, { kind: 'rate', scope: 'group', limit: 1, perMs: 3_600_000 })
  assert.ok(Date.parse(String(at)) > Date.parse(String(found['now'])))
})
