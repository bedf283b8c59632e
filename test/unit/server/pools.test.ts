// /v1/pools and their entries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, type Answer, type Serving, ask, assertProblem, readLines, serve } from './serving.ts'

/** What a pool begins with. */
const UNCONTROLLED = {
  paused: null,
  limits: { group: { concurrency: null, rate: null }, pool: { concurrency: null, rate: null } },
}
const PLAIN = { fansOut: false, throttleMs: 0, payloads: 'latest' }
const TICKS = {
  name: 'ticks',
  mode: 'each',
  partitions: 4,
  rememberMs: 0,
  deadForMs: 2_592_000_000,
  ...PLAIN,
}

function send(serving: Serving, method: string, path: string, value?: unknown): Promise<Answer> {
  return ask(serving, method, `/v1/pools${path}`, value === undefined ? {} : { body: JSON.stringify(value) })
}

test('[Z7] pools are listed with what is known of them, also those that another process made', async (t) => {
  const serving = await serve(t)
  const settings = { name: 'vms', mode: 'one' as const, partitions: 8, rememberMs: null }
  await serving.race.store.pool.entries.open(settings)
  const vms = { ...TICKS, name: 'vms', mode: 'one', partitions: 8 }
  assert.deepEqual((await send(serving, 'GET', '')).body, {
    items: [TICKS, vms].map((pool) => ({ ...pool, ...UNCONTROLLED })),
    total: 2,
  })
  assert.deepEqual((await send(serving, 'GET', '/vms')).body, { ...vms, ...UNCONTROLLED })
  assert.equal((await send(serving, 'PUT', '/vms/entries/a')).status, 202)
})

test('a pool is made by PUT, which can be repeated; other settings are a conflict', async (t) => {
  const serving = await serve(t)
  const made = await send(serving, 'PUT', '/vms', { mode: 'each', partitions: 2, deadFor: '7d' })
  const vms = {
    name: 'vms',
    mode: 'each',
    partitions: 2,
    rememberMs: 0,
    deadForMs: 604_800_000,
    ...PLAIN,
    ...UNCONTROLLED,
  }
  assert.deepEqual([made.status, made.body], [200, vms])
  assert.deepEqual((await send(serving, 'PUT', '/vms')).body, vms)
  assertProblem(await send(serving, 'PUT', '/vms', { mode: 'one' }), 409, 'pool_mismatch')
  assert.equal((await send(serving, 'PUT', '/vms', { deadFor: 1000 })).body['deadForMs'], 1000)
  assert.equal((await send(serving, 'PUT', '/plain')).body['partitions'], 4)
})

test('a pool that fans out, throttles or keeps all payloads is made by PUT, and remembers it', async (t) => {
  const serving = await serve(t)
  const asked = { fansOut: true, throttle: '2s', payloads: 'all' }
  const { body } = await send(serving, 'PUT', '/syncs', asked)
  assert.deepEqual([body['fansOut'], body['throttleMs'], body['payloads']], [true, 2000, 'all'])
  assert.equal((await send(serving, 'PUT', '/syncs', { throttle: 500 })).body['throttleMs'], 500)
  assertProblem(await send(serving, 'PUT', '/syncs', { fansOut: false }), 409, 'pool_mismatch')
  assertProblem(await send(serving, 'PUT', '/syncs', { payloads: 'latest' }), 409, 'pool_mismatch')
  assertProblem(await send(serving, 'PUT', '/each', { mode: 'each', throttle: '2s' }), 400, 'invalid_options')
  assertProblem(await send(serving, 'PUT', '/new', { fansOut: 'yes' }), 400, 'invalid_input')
  assertProblem(await send(serving, 'PUT', '/new', { payloads: 'some' }), 400, 'invalid_options')
  await send(serving, 'PUT', '/syncs/entries/k')
  assert.equal((await send(serving, 'GET', '/syncs/entries/k')).body['lane'], 'fanout')
})

test('a put with replace is put off for no longer than its longest wait', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const at = '2099-01-01T00:00:00.000Z'
  const put = { at, onConflict: 'replace', longestWait: '10m' }
  const before = Date.now()
  const { body } = await send(serving, 'PUT', '/vms/entries/k', put)
  const waits = Date.parse(String(body['dueAt'])) - before
  assert.ok(waits >= 600_000 && waits < 660_000, `it waits ${waits} ms`)
  assertProblem(await send(serving, 'PUT', '/vms/entries/k', { longestWait: '10m' }), 400, 'invalid_input')
  assertProblem(
    await send(serving, 'PUT', '/vms/entries/k', { ...put, longestWait: 'long' }),
    400,
    'invalid_input',
  )
  assertProblem(
    await send(serving, 'PUT', '/vms/entries/k', { ...put, longestWait: {} }),
    400,
    'invalid_input',
  )
})

test('a pool that is not there is unknown, and the nearest is named', async (t) => {
  const serving = await serve(t)
  const paths = [
    '/tiks',
    '/tiks/entries',
    '/tiks/entries/a',
    '/tiks/dead',
    '/tiks/dead/kinds',
    '/tiks/limits',
  ]
  for (const path of paths) {
    const answer = await send(serving, 'GET', path)
    assertProblem(answer, 404, 'pool_unknown')
    assert.equal(answer.body['remedy'], 'did you mean ticks?')
  }
  for (const path of ['/other/dead/redrive', '/other/dead/remove']) {
    assertProblem(await send(serving, 'POST', path, { all: true }), 404, 'pool_unknown')
  }
  for (const path of ['/other/pause', '/other/resume']) {
    assertProblem(await send(serving, 'POST', path), 404, 'pool_unknown')
  }
  assertProblem(await send(serving, 'PUT', '/other/limits', {}), 404, 'pool_unknown')
  assertProblem(await send(serving, 'PUT', '/other/entries/a'), 404, 'pool_unknown')
})

test('bad settings of a pool are refused', async (t) => {
  const serving = await serve(t)
  for (const body of [
    { mode: 'two' },
    { partitions: 0 },
    { deadFor: 'soon' },
    { deadFor: {} },
    { partitions: '4' },
  ]) {
    const { status } = await send(serving, 'PUT', '/vms', body)
    assert.equal(status, 400, JSON.stringify(body))
  }
  assertProblem(await send(serving, 'PUT', '/vms', { modes: 'one' }), 400, 'invalid_input')
  assertProblem(await send(serving, 'PUT', '/vms', []), 400, 'invalid_input')
  assertProblem(await send(serving, 'PUT', '/%20'), 400, 'invalid_options')
})

test('[E5] an entry that names no lane has the lane of its pool', async (t) => {
  const serving = await serve(t)
  const settings = { name: 'vms', mode: 'one' as const, partitions: 8, rememberMs: null, fansOut: true }
  await serving.race.store.pool.entries.open(settings)
  await send(serving, 'PUT', '/vms/entries/a')
  await send(serving, 'PUT', '/vms/entries/b', { lane: 'bulk' })
  assert.equal((await send(serving, 'GET', '/vms/entries/a')).body['lane'], 'fanout')
  assert.equal((await send(serving, 'GET', '/vms/entries/b')).body['lane'], 'bulk')
})

test('a key is put, looked at, and cancelled', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const put = await send(serving, 'PUT', '/vms/entries/a%2Fb', { at: LATER, payload: { n: 1 }, lane: 'bulk' })
  const result = { key: 'a/b', at: null, dueAt: LATER, tally: 1, result: 'created' }
  assert.deepEqual([put.status, put.body], [202, result])
  const again = await send(serving, 'PUT', '/vms/entries/a%2Fb', { at: LATER })
  assert.deepEqual(again.body, { ...result, tally: 2, result: 'merged' })
  const { partition, enqueuedAt, putAt, ...entry } = (await send(serving, 'GET', '/vms/entries/a%2Fb')).body
  assert.deepEqual([typeof partition, typeof enqueuedAt, typeof putAt], ['number', 'string', 'string'])
  const run = { dueAt: LATER, state: 'waiting', tally: 2, payload: { n: 1 }, after: null }
  const place = { lane: 'bulk', group: 'a/b', attempt: 0, failing: false, lastError: null }
  assert.deepEqual(entry, { key: 'a/b', at: null, ...run, ...place })
  const gone = await send(serving, 'DELETE', '/vms/entries/a%2Fb')
  assert.deepEqual(gone.body, { key: 'a/b', cancelled: 1, due: 0 })
  for (const method of ['GET', 'DELETE']) {
    assertProblem(await send(serving, method, '/vms/entries/a%2Fb'), 404, 'entry_unknown')
  }
})

test('in mode each an entry is named by key and at, and the key alone means all of them', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms', { mode: 'each' })
  const times = [LATER, '2031-01-01T00:00:00.000Z']
  for (const at of times) {
    const { body } = await send(serving, 'PUT', `/vms/entries/a?at=${at}`)
    assert.deepEqual([body['at'], body['result']], [at, 'created'])
  }
  const one = await send(serving, 'GET', `/vms/entries/a?at=${Date.parse(LATER)}`)
  assert.deepEqual([one.body['at'], one.body['dueAt']], [LATER, LATER])
  const { items } = (await send(serving, 'GET', '/vms/entries/a')).body as { items: { at: string }[] }
  assert.deepEqual(
    items.map(({ at }) => at),
    times,
  )
  assertProblem(await send(serving, 'PUT', '/vms/entries/a', {}), 400, 'invalid_input')
  assertProblem(await send(serving, 'PUT', `/vms/entries/a?at=${LATER}`, { at: LATER }), 400, 'invalid_input')
  assertProblem(await send(serving, 'GET', '/vms/entries/b'), 404, 'entry_unknown')
  const gone = await send(serving, 'DELETE', `/vms/entries/a?at=${LATER}`)
  assert.deepEqual(gone.body, { key: 'a', cancelled: 1, due: 0 })
})

test('entries are listed page by page, by key, state and due time', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  await send(serving, 'POST', '/vms/entries', [
    { key: 'a' },
    { key: 'b', at: LATER },
    { key: 'c', at: LATER },
  ])
  const keys = async (query: string): Promise<string> => {
    const { body } = await send(serving, 'GET', `/vms/entries?${query}`)
    return (body['items'] as { key: string }[]).map(({ key }) => key).join('')
  }
  assert.equal(await keys('state=due'), 'a')
  assert.equal(await keys('state=waiting'), 'bc')
  assert.equal(await keys('key=b'), 'b')
  assert.equal(await keys(`due.from=${LATER}`), 'bc')
  assert.equal(await keys(`due.before=${LATER}`), 'a')
  const first = (await send(serving, 'GET', '/vms/entries?limit=2')).body
  assert.equal(await keys(`after=${String(first['next'])}`), 'c')
  assertProblem(await send(serving, 'GET', '/vms/entries?after=x'), 400, 'invalid_input')
  assertProblem(await send(serving, 'GET', '/vms/entries?states=due'), 400, 'invalid_input')
})

test('a list is put whole or not at all, and every flaw of it is named', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const many = await send(serving, 'POST', '/vms/entries', [
    { key: 'a', at: LATER },
    { key: 'a', at: LATER },
  ])
  assert.deepEqual(
    (many.body as unknown as { tally: number; result: string }[]).map(({ tally, result }) => [result, tally]),
    [
      ['created', 1],
      ['merged', 2],
    ],
  )
  const bad = await send(serving, 'POST', '/vms/entries', [
    { key: 'b' },
    { key: '' },
    { lane: 'x', key: 'c' },
    7,
  ])
  assertProblem(bad, 400, 'invalid_input')
  assert.deepEqual(
    (bad.body['errors'] as { path: string }[]).map(({ path }) => path),
    ['[1].key', '[2].lane', '[3]'],
  )
  assertProblem(await send(serving, 'GET', '/vms/entries/b'), 404, 'entry_unknown')
  assertProblem(await send(serving, 'POST', '/vms/entries', []), 400, 'invalid_input')
})

test('lines are put as they come, with a result for each', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const body = `{"key":"a","at":"${LATER}"}\n\nno\n{"key":"a"}\n`
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await fetch(`${serving.url}/v1/pools/vms/entries`, { method: 'POST', headers, body })
  const lines = readLines(await answer.text())
  assert.equal(answer.status, 202)
  assert.deepEqual(
    lines.map(({ line, result, error }) => [line, result ?? error?.code]),
    [
      [1, 'created'],
      [3, 'invalid_input'],
      [4, 'merged'],
    ],
  )
})

test('a repeated put is answered as the first was, and another of the same key is refused', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms')
  const headers = { 'idempotency-key': 'request-1' }
  const body = JSON.stringify({ at: LATER })
  const first = await ask(serving, 'PUT', '/v1/pools/vms/entries/a', { body, headers })
  const again = await ask(serving, 'PUT', '/v1/pools/vms/entries/a', { body, headers })
  assert.deepEqual([again.body, again.headers.get('idempotency-replayed')], [first.body, 'true'])
  const other = await ask(serving, 'PUT', '/v1/pools/vms/entries/b', { body, headers })
  assertProblem(other, 422, 'idempotency_mismatch')
  const list = await ask(serving, 'POST', '/v1/pools/vms/entries', { body: '[{"key":"a"}]', headers })
  assertProblem(list, 422, 'idempotency_mismatch')
})

test('an entry that holds as many payloads as it may refuses a put with 409, which the put routes tell of', async (t) => {
  const serving = await serve(t)
  await ask(serving, 'PUT', '/v1/pools/mails', { body: '{"payloads":"all"}' })
  const path = '/v1/pools/mails/entries'
  const entries = Array.from({ length: 1000 }, (_, nth) => ({ key: 'ann', at: LATER, payload: nth }))
  assert.equal((await ask(serving, 'POST', path, { body: JSON.stringify(entries) })).status, 202)
  assertProblem(await ask(serving, 'PUT', `${path}/ann`, { body: '{"payload":1}' }), 409, 'payloads_full')
  const many = await ask(serving, 'POST', path, { body: '[{"key":"bob"},{"key":"ann","payload":1}]' })
  assertProblem(many, 409, 'payloads_full')
  assert.equal((await ask(serving, 'GET', `${path}/bob`)).status, 404)
  assert.equal((await ask(serving, 'PUT', `${path}/ann`)).status, 202)
  const { body } = await ask(serving, 'GET', '/openapi.json')
  const { paths } = body as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }
  for (const { responses } of [
    paths['/v1/pools/{pool}/entries']?.['post'],
    paths['/v1/pools/{pool}/entries/{key}']?.['put'],
  ].filter((route) => route !== undefined)) {
    assert.match(JSON.stringify(responses['409']), /payloads_full/)
  }
})
