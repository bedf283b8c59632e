// Pause, resume and limits of pools over HTTP.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { headrace } from '../../../src/headrace.ts'
import { LATER, type Answer, type Serving, ask, assertProblem, serve, until } from './serving.ts'

const NONE = { concurrency: null, rate: null }

function send(serving: Serving, method: string, path: string, value?: unknown): Promise<Answer> {
  return ask(serving, method, `/v1/pools${path}`, value === undefined ? {} : { body: JSON.stringify(value) })
}

test('[L12] a pool that is paused over HTTP starts nothing until it is resumed', async (t) => {
  const serving = await serve(t)
  const { race } = serving
  const ran: string[] = []
  race.work(race.pool('vms'), ({ key }) => void ran.push(key))
  await send(serving, 'PUT', '/vms')
  const asked = { by: 'ann', reason: 'provider is down', until: LATER }
  const { status, body: paused } = await send(serving, 'POST', '/vms/pause', asked)
  const { since, ...told } = paused
  assert.deepEqual([status, told], [200, asked])
  assert.match(String(since), /^2\d{3}-.*Z$/)
  assert.deepEqual((await send(serving, 'GET', '/vms')).body['paused'], paused)
  await send(serving, 'PUT', '/vms/entries/a')
  const { body: why } = await ask(serving, 'GET', '/v1/why?pool=vms&key=a')
  assert.deepEqual([why['reason'], ran], ['paused', []])
  assert.deepEqual((await send(serving, 'POST', '/vms/resume')).body, { resumed: true })
  await until(() => ran.length > 0, 'a run')
  assert.deepEqual((await send(serving, 'POST', '/vms/resume')).body, { resumed: false })
  assert.equal((await send(serving, 'GET', '/vms')).body['paused'], null)
})

test('[L12] a pause without a body ends with resume, another keeps its beginning, and a past one is refused', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const first = (await send(serving, 'POST', '/vms/pause')).body
  assert.deepEqual([first['by'], first['reason'], first['until']], [null, null, null])
  const second = (await send(serving, 'POST', '/vms/pause', { by: 'bob' })).body
  assert.deepEqual(second, { ...first, by: 'bob' })
  const past = await send(serving, 'POST', '/vms/pause', { until: '2020-01-01T00:00:00Z' })
  assertProblem(past, 400, 'invalid_input')
  assert.match(
    String(past.body['detail']),
    /^until is 2020-01-01T00:00:00\.000Z, and by the clock of the store/,
  )
  assert.deepEqual((await send(serving, 'GET', '/vms')).body['paused'], second)
})

test('[T6] a pause of ticks holds them, their posts are answered, and limits of them are refused', async (t) => {
  const serving = await serve(t)
  const { race } = serving
  await send(serving, 'POST', '/ticks/pause')
  await ask(serving, 'POST', '/ticks', { body: '{"item":"a","at":"2020-01-01T00:00:00Z"}' })
  const { body: why } = await ask(serving, 'GET', '/v1/why?key=a')
  assert.deepEqual([why['state'], why['reason']], ['due', 'paused'])
  const refused = await send(serving, 'PUT', '/ticks/limits', { pool: { concurrency: 3 } })
  assertProblem(refused, 400, 'invalid_options')
  assert.match(String(refused.body['detail']), /^the pool ticks is of ticks, which have no limits/)
  assert.equal((await send(serving, 'PUT', '/ticks/limits', { pool: null })).status, 200)
  await assert.rejects(race.ticks().pool.limit({ group: { concurrency: 1 } }), { code: 'invalid_options' })
  await send(serving, 'POST', '/ticks/resume')
  await until(async () => (await ask(serving, 'GET', '/v1/why?key=a')).body['state'] === 'absent', 'a move')
})

test('[I10] [T6] ticks that are paused are told by the verdict and the metrics, and are not idle', async (t) => {
  const serving = await serve(t)
  const metrics = async (): Promise<string> => String((await ask(serving, 'GET', '/metrics')).body['text'])
  await until(async () => (await metrics()).includes('headrace_paused{pool="ticks"} 0\n'), 'a read')
  await send(serving, 'POST', '/ticks/pause', { by: 'ann', reason: 'deploy' })
  await ask(serving, 'POST', '/ticks', { body: '{"item":"a","at":"2020-01-01T00:00:00Z"}' })
  const verdict = async (): Promise<Answer['body']> => (await ask(serving, 'GET', '/v1/verdict')).body
  const isTold = async (): Promise<boolean> =>
    String((await verdict())['sentence']).endsWith('at least 1 due')
  await until(isTold, 'a pulse')
  const { status, sentence } = await verdict()
  assert.equal(status, 'busy')
  assert.match(String(sentence), /^Held: ticks is paused by ann since 2\S+Z \(deploy\); at least 1 due$/)
  assert.match(await metrics(), /\nheadrace_paused\{pool="ticks"\} 1\n/)
})

test('[L11] limits are changed by what a body names, and shown', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  assert.deepEqual((await send(serving, 'GET', '/vms/limits')).body, { group: NONE, pool: NONE })
  const asked = { group: { concurrency: 5, rate: { count: 10, per: '1s' } }, pool: { concurrency: 40 } }
  const group = { concurrency: 5, rate: { count: 10, perMs: 1000 } }
  const { status, body } = await send(serving, 'PUT', '/vms/limits', asked)
  assert.deepEqual([status, body], [200, { group, pool: { concurrency: 40, rate: null } }])
  const rate = { count: 50, perMs: 500, spread: true }
  const named = { pool: { rate: { count: 50, per: 500, spread: true } } }
  const changed = await send(serving, 'PUT', '/vms/limits', named)
  const limits = { group, pool: { concurrency: 40, rate } }
  assert.deepEqual(changed.body, limits)
  assert.deepEqual((await send(serving, 'GET', '/vms/limits')).body, limits)
  assert.deepEqual((await send(serving, 'GET', '/vms')).body['limits'], limits)
  assert.deepEqual((await serving.race.pool('vms').limits()).pool, limits.pool)
  const lifted = await send(serving, 'PUT', '/vms/limits', { group: null, pool: { rate: null } })
  assert.deepEqual(lifted.body, { group: NONE, pool: { concurrency: 40, rate: null } })
})

test('a bad pause or limit is refused with its field and a remedy, and changes nothing', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const refused: [string, string, unknown, RegExp][] = [
    ['POST', 'pause', { by: 5 }, /^by is 5/],
    ['POST', 'pause', { until: 'soon' }, /^until is "soon"/],
    ['POST', 'pause', { until: null }, /^until is null/],
    ['POST', 'pause', { why: 'x' }, /has no option "why"/],
    ['POST', 'pause', [], /must be a JSON object/],
    ['PUT', 'limits', { pool: { concurrency: 0 } }, /limits\.pool\.concurrency is 0/],
    ['PUT', 'limits', { group: { rate: { count: 1 } } }, /limits\.group\.rate\.per is missing/],
    ['PUT', 'limits', { group: { rate: { count: 1, per: 'soon' } } }, /limits\.group\.rate\.per is "soon"/],
    ['PUT', 'limits', { group: { rate: { count: 1, per: '2h' } } }, /limits\.group\.rate\.per is 7200000 ms/],
    ['PUT', 'limits', { pool: 7 }, /limits\.pool are 7/],
    ['PUT', 'limits', { pol: {} }, /limits has no option "pol"/],
    ['PUT', 'limits', undefined, /the body is empty/],
    ['PUT', 'limits', 'x', /must be a JSON object/],
  ]
  for (const [method, what, body, message] of refused) {
    const answer = await send(serving, method, `/vms/${what}`, body)
    assert.equal(answer.status, 400, String(message))
    assert.match(String(answer.body['detail']), message)
    assert.notEqual(answer.body['remedy'], null)
  }
  assertProblem(await send(serving, 'GET', '/vms/limits?x=1'), 400, 'invalid_input')
  const { paused, limits } = (await send(serving, 'GET', '/vms')).body
  assert.deepEqual([paused, limits], [null, { group: NONE, pool: NONE }])
})

test('[L11] a pool that another process made is shown with its pause and limits, and can be controlled', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'headrace-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const store = `sqlite:${join(directory, 'store.db')}`
  const serving = await serve(t, { race: { store } })
  const other = await headrace({ store, partitions: 4 })
  t.after(() => other.stop())
  const pool = other.pool('vms')
  await pool.pause({ by: 'ann' })
  const { paused } = (await send(serving, 'GET', '/vms')).body as { paused: { by: string } }
  assert.equal(paused.by, 'ann')
  await send(serving, 'PUT', '/vms/limits', { pool: { concurrency: 3 } })
  await send(serving, 'POST', '/vms/resume')
  assert.deepEqual([await pool.paused(), (await pool.limits()).pool.concurrency], [null, 3])
})
