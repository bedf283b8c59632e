// /v1/why on a real server, in situations that are brought about for real.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dead, retry } from '../../../src/pool/answer.ts'
import type { Handler } from '../../../src/pool/run.ts'
import type { WorkOptions } from '../../../src/pool/work-options.ts'
import { type Answer, LATER, type Serving, ask, assertProblem, serve, until } from './serving.ts'

interface Asking extends Serving {
  why(key: string, more?: string): Promise<Answer['body']>
}

async function serveWork(t: TestContext, handler: Handler, options: WorkOptions = {}): Promise<Asking> {
  const serving = await serve(t, { race: { name: 'm1', drainWithin: 0 } })
  serving.race.work(serving.race.pool('vms'), handler, options)
  const why: Asking['why'] = async (key, more = '') => {
    const { status, body } = await ask(serving, 'GET', `/v1/why?pool=vms&key=${key}${more}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { ...serving, why }
}

test('[I8] what is not due yet, not there, or of a pool that is not, is told so', async (t) => {
  const { race, why, ...serving } = await serveWork(t, () => undefined)
  await race.pool('vms').put('later', { at: LATER })
  const found = await why('later')
  assert.deepEqual([found['state'], found['reason'], found['dueAt']], ['waiting', 'not_due', LATER])
  assert.deepEqual(found['evidence'], { dueAt: LATER })
  assert.deepEqual(found['owner'], { name: 'm1', address: null })
  const none = await why('none')
  assert.deepEqual([none['state'], none['reason']], ['absent', null])
  assertProblem(await ask({ race, ...serving }, 'GET', '/v1/why?pool=nope&key=a'), 404, 'pool_unknown')
  assertProblem(await ask({ race, ...serving }, 'GET', '/v1/why'), 400, 'invalid_input')
})

test('[I8] a tick is found in the pool of ticks, by its moment', async (t) => {
  const serving = await serve(t)
  await serving.ticks.pool.put('bill', { at: LATER })
  const { body } = await ask(serving, 'GET', `/v1/why?key=bill&at=${LATER}`)
  assert.deepEqual([body['pool'], body['reason']], ['ticks', 'not_due'])
})

test('[I8] what failed backs off, with its attempt, and what was given up is dead', async (t) => {
  const { race, why } = await serveWork(t, ({ key }) => (key === 'bad' ? dead('no') : retry('1h')))
  await race.pool('vms').putAll([{ key: 'flaky' }, { key: 'bad' }])
  await until(async () => (await why('flaky'))['reason'] === 'backing_off', 'a back-off')
  const { evidence } = await why('flaky')
  assert.equal((evidence as Record<string, unknown>)['attempt'], 1)
  await until(async () => (await why('bad'))['state'] === 'dead', 'a death')
})

test('[I8] a run that waits for a handler meets a full pool, and the one before it runs', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { race, why } = await serveWork(t, () => promise, { concurrency: 1 })
  await race.pool('vms').put('first')
  await until(async () => (await why('first'))['state'] === 'running', 'a run')
  await race.pool('vms').put('second')
  const found = await why('second')
  assert.deepEqual([found['state'], found['reason']], ['due', 'pool_full'])
  resolve()
  await until(async () => (await why('second'))['state'] === 'absent', 'its end')
})

test('[I9] a key whose handler ignores its abort waits for that handler', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { race, why } = await serveWork(t, () => promise, { timeout: '20ms' })
  await race.pool('vms').put('deaf')
  await until(async () => (await why('deaf'))['reason'] === 'waiting_key', 'an abort that is ignored')
  const found = await why('deaf')
  assert.equal((found['evidence'] as Record<string, unknown>)['aborted'], 'timeout')
  assert.match(String(found['next']), /heed ctx\.signal/)
  resolve()
})

test('[I8] a member that drains starts nothing new where another could', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { race, why, ...serving } = await serveWork(t, () => promise, { concurrency: 1 })
  await race.pool('vms').putAll([{ key: 'a' }, { key: 'b' }])
  await until(
    async () => (await why('a'))['state'] === 'running' || (await why('b'))['state'] === 'running',
    'a run',
  )
  await ask({ race, ...serving }, 'POST', '/v1/roster/members/m1/drain')
  const found = [await why('a'), await why('b')].find(({ state }) => state !== 'running')
  assert.equal(found?.['reason'], 'node_draining')
  assert.equal(found?.['next'], 'headrace roster undrain m1')
  resolve()
})
