// Health, readiness, status, metrics, the page and the description of the API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { headrace } from '../../../src/headrace.ts'
import { createServer } from '../../../src/server/app.ts'
import { LATER, type Serving, ask, post, serve, until } from './serving.ts'

interface Check {
  name: string
  ok: boolean
  detail: string
}

test('healthy and live as soon as it serves, also by HEAD', async (t) => {
  const serving = await serve(t)
  assert.deepEqual((await ask(serving, 'GET', '/healthy')).body, { status: 'ok' })
  assert.deepEqual((await ask(serving, 'GET', '/livez')).body, { status: 'ok' })
  assert.equal((await ask(serving, 'HEAD', '/healthy')).status, 200)
})

test('ready when the store answers and every service runs', async (t) => {
  const answer = await ask(await serve(t), 'GET', '/readyz')
  assert.equal(answer.status, 200)
  const checks = answer.body['checks'] as Check[]
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['server', 'store', 'pulse age', 'trust', 'pulse', 'roster', 'retention', 'ticks ticks'],
  )
})

test('not ready when the last pulse failed or hung, or a service is not running', async (t) => {
  const serving = await serve(t)
  const failing = async (): Promise<string> => {
    const { status, body } = await ask(serving, 'GET', '/readyz')
    return [status, ...(body['checks'] as Check[]).filter(({ ok }) => !ok).map(({ name }) => name)].join()
  }
  const pulse = serving.race.store.pulse.bind(serving.race.store)
  serving.race.store.pulse = () => Promise.reject(new Error('disk gone'))
  await until(async () => (await failing()) === '503,store', 'a failed pulse')
  serving.race.store.pulse = pulse
  await until(async () => (await failing()) === '200', 'an answered pulse')
  const hung = Promise.withResolvers<Awaited<ReturnType<typeof pulse>>>()
  serving.race.store.pulse = () => hung.promise
  await until(async () => (await failing()) === '503,store', 'a pulse that hangs')
  hung.resolve(await pulse({ beat: null, pools: [] }))
  serving.race.store.pulse = pulse
  await until(async () => (await failing()) === '200', 'another answered pulse')
  await serving.ticks.service.stop()
  assert.equal(await failing(), '503,ticks ticks')
})

test('a longer lease has a slower pulse, and stays ready between two', async (t) => {
  for (const [lease, status] of [
    ['3s', 503],
    ['30s', 200],
  ] as const) {
    const serving = await serve(t, { race: { lease } })
    Object.defineProperty(serving.race, 'pulseAgeMs', { value: 5000 })
    assert.equal((await ask(serving, 'GET', '/readyz')).status, status, lease)
  }
})

test('[O3] a member that cannot trust the roster is not ready, and one that did not join does not ask', async (t) => {
  const failing = async (serving: Serving): Promise<Check[]> => {
    const { body } = await ask(serving, 'GET', '/readyz')
    return (body['checks'] as Check[]).filter(({ ok }) => !ok)
  }
  const member = await serve(t, { race: { lease: 300 } })
  const { store } = member.race
  const pulse = store.pulse.bind(store)
  // The store answers, but to no beat.
  store.pulse = (request) =>
    request.beat === null ? pulse(request) : Promise.reject(new Error('not this time'))
  await until(() => !member.race.roster.isTrusted, 'doubt')
  const [, trust, ...others] = await failing(member)
  assert.deepEqual([trust?.name, others], ['trust', []])
  assert.match(trust?.detail ?? '', /this member holds nothing until it does$/)
  store.pulse = pulse
  await until(() => member.race.roster.isTrusted, 'trust')
  await until(async () => (await failing(member)).length === 0, 'readiness')
  assert.deepEqual(await failing(await serve(t, { race: { join: 'no' } })), [])
})

test('doctor tells what is wrong with readiness, the store and the roster, each with a remedy', async (t) => {
  const serving = await serve(t, { race: { name: 'm1' } })
  const examine = async (): Promise<{ check: string; ok: boolean; remedy: string | null }[]> =>
    (await ask(serving, 'GET', '/v1/doctor')).body['findings'] as []
  const checks = await examine()
  assert.deepEqual(
    checks.filter(({ ok, remedy }) => !ok || remedy !== null),
    [],
  )
  const names = checks.map(({ check }) => check)
  for (const name of ['store', 'trust', 'durability', 'leader', 'overlap'])
    assert.ok(names.includes(name), name)
  await serving.ticks.service.stop()
  const [broken] = (await examine()).filter(({ ok }) => !ok)
  assert.equal(broken?.check, 'ticks ticks')
  assert.match(broken?.remedy ?? '', /restart/)
})

test('to other machines, readiness does not tell where the store is', async (t) => {
  const token = 'a-token-that-is-long-enough'
  const serving = await serve(t, { host: '0.0.0.0', token })
  const path = './.headrace/headrace.db'
  serving.race.store.pulse = () => Promise.reject(new HeadraceError('store_failed', `${path} is gone`))
  await until(async () => (await ask(serving, 'GET', '/readyz')).status === 503, 'unready')
  const { body } = await ask(serving, 'GET', '/readyz', { headers: { authorization: `Bearer ${token}` } })
  const store = (body['checks'] as Check[]).find(({ name }) => name === 'store')
  assert.deepEqual(store, { name: 'store', ok: false, detail: 'store_failed' })
})

test('however often the status is asked for, ticks are counted once a second', async (t) => {
  const serving = await serve(t)
  const { browse } = serving.race.store.pool
  const count = browse.count.bind(browse)
  let counted = 0
  browse.count = (pool) => {
    counted += 1
    return counted === 1 ? Promise.reject(new Error('not this time')) : count(pool)
  }
  assert.equal((await ask(serving, 'GET', '/v1/status')).status, 500)
  const asked = Array.from({ length: 20 }, (_, n) => ask(serving, 'GET', n % 2 === 0 ? '/' : '/v1/status'))
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200)
  assert.equal(counted, 2)
})

test('the status tells what runs, who leads, and the share of this member', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: LATER })
  const { body } = await ask(serving, 'GET', '/v1/status')
  assert.equal(body['store'], 'memory:')
  assert.equal(body['member'], serving.race.member)
  const counts = { waiting: 1, due: 0, 'backing-off': 0, dead: 0 }
  assert.deepEqual(body['ticks'], { mode: 'each', partitions: 4, counts })
  const { id, name } = serving.race.roster
  const shares = [{ resource: 'pool/ticks', partitions: 4, held: 4 }]
  assert.deepEqual(body['roster'], { joined: true, id, name, leader: { member: id, name, term: 1 }, shares })
  const idle = await ask(await serve(t, { race: { join: 'no', name: 'm2' } }), 'GET', '/v1/status')
  const { joined, leader } = idle.body['roster'] as { joined: boolean; leader: null }
  assert.deepEqual([joined, leader], [false, null])
})

test('metrics count requests by route, and are written for Prometheus and as JSON', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: LATER })
  await ask(serving, 'GET', '/v1/ticks/some-secret-item')
  const { body, headers } = await ask(serving, 'GET', '/metrics')
  const text = String(body['text'])
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  assert.match(text, /^headrace_puts_total\{pool="ticks",result="created"\} 1$/m)
  assert.match(text, /^headrace_http_requests_total\{route="\/ticks",method="POST",status="202"\} 1$/m)
  assert.match(text, /^headrace_http_request_seconds_bucket\{route="\/ticks",le="\+Inf"\} 1$/m)
  assert.match(text, /route="\/v1\/ticks\/:item",method="GET",status="404"/)
  assert.doesNotMatch(text, /some-secret-item/)
  await ask(serving, 'GET', '/no/such/route')
  const again = String((await ask(serving, 'GET', '/metrics')).body['text'])
  assert.match(again, /route="unknown",method="GET",status="404"\} 1/)
  const json = (await ask(serving, 'GET', '/v1/metrics')).body['metrics'] as { name: string }[]
  for (const { name } of json) assert.match(text, new RegExp(`^# TYPE ${name} `, 'm'))
})

test('the page escapes what it shows, allows no script, and is not sniffed', async (t) => {
  const serving = await serve(t)
  serving.race.store.log.topics = () =>
    Promise.resolve([{ name: '<script>alert(1)</script>', partitions: 1, retentionMs: 1, bounds: [] }])
  const { body, headers } = await ask(serving, 'GET', '/')
  assert.doesNotMatch(String(body['text']), /<script/)
  assert.match(String(body['text']), /&lt;script&gt;/)
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('server'), null)
  assert.equal(headers.get('access-control-allow-origin'), null)
})

test('the OpenAPI document lists every route, and nothing else', async (t) => {
  const serving = await serve(t)
  const { body } = await ask(serving, 'GET', '/openapi.json')
  assert.equal(body['openapi'], '3.1.0')
  const paths = body['paths'] as Record<string, Record<string, { responses: Record<string, unknown> }>>
  const written = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = serving.server.routes.map(
    ({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  assert.deepEqual(written.sort(), served.sort())
  assert.ok(paths['/ticks']?.['post']?.responses['202'] !== undefined)
  assert.ok(paths['/v1/ticks/{item}']?.['patch']?.responses['409'] !== undefined)
  const codes = JSON.stringify(paths['/ticks']?.['post']?.responses)
  for (const code of ['store_busy', 'store_failed', 'not_running', 'cross_site', 'request_timeout']) {
    assert.match(codes, new RegExp(code))
  }
})

test('a port that is taken is an error that says what to do', async (t) => {
  const serving = await serve(t)
  const race = await headrace({ store: 'memory:' })
  t.after(() => race.stop())
  const second = createServer(race, race.ticks(), { port: serving.port })
  await assert.rejects(second.listen(), (error: { code: string; remedy: string; message: string }) => {
    assert.equal(error.code, 'address_in_use')
    assert.match(error.message, new RegExp(String(serving.port)))
    return error.remedy.includes('--port')
  })
})
