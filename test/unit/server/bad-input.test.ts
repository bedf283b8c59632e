// Bad input: each gets a problem that says what is wrong and what to do, and nothing else is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, ask, assertProblem, openWire, post, serve } from './serving.ts'

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

const bodies: Record<string, { body: string | Buffer; detail: RegExp; remedy?: RegExp }> = {
  'an empty body': { body: '', detail: /empty/ },
  'broken JSON': { body: '{"item":', detail: /not JSON/ },
  'a text': { body: '"a"', detail: /JSON object/ },
  'a null': { body: 'null', detail: /JSON object/ },
  'a missing item': { body: `{"at":"${LATER}"}`, detail: /item is missing/ },
  'a missing at': { body: '{"item":"a"}', detail: /at is missing/ },
  'an item that is a number': { body: `{"item":7,"at":"${LATER}"}`, detail: /item must be a text/ },
  'an empty item': { body: `{"item":"","at":"${LATER}"}`, detail: /item is empty/ },
  'an item of 10 kB': {
    body: `{"item":"${'a'.repeat(10_000)}","at":"${LATER}"}`,
    detail: /10000 bytes.*512/,
  },
  'half a surrogate pair': { body: `{"item":"\\ud800","at":"${LATER}"}`, detail: /surrogate/ },
  'a NUL': { body: `{"item":"a\\u0000b","at":"${LATER}"}`, detail: /NUL/ },
  'bytes that are no UTF-8': { body: Buffer.from([0x22, 0xff, 0x22]), detail: /UTF-8/ },
  'an at that is no date': { body: '{"item":"a","at":"tomorrow"}', detail: /at is "tomorrow"/ },
  'an at without a zone': { body: '{"item":"a","at":"2030-01-01T00:00:00"}', detail: /no moment/ },
  'the 31st of February': { body: '{"item":"a","at":"2030-02-31T00:00:00Z"}', detail: /no moment/ },
  'an at that is null': { body: '{"item":"a","at":null}', detail: /at is null/ },
  'an at that is NaN': { body: '{"item":"a","at":NaN}', detail: /not JSON/ },
  'an at beyond every number': { body: '{"item":"a","at":1e400}', detail: /at is Infinity/ },
  'half a millisecond': { body: '{"item":"a","at":1.5}', detail: /at is 1.5/ },
  'a moment before every year': { body: '{"item":"a","at":-9007199254740991}', detail: /no moment/ },
  'the year 10000': { body: '{"item":"a","at":"+010000-01-01T00:00:00Z"}', detail: /year 9999/ },
  'the year 10000 in milliseconds': { body: '{"item":"a","at":253402300800000}', detail: /year 9999/ },
  'an unknown field': { body: `{"itm":"a","at":"${LATER}"}`, detail: /no field "itm"/, remedy: /mean item/ },
  'a deep payload': { body: `{"item":"a","at":1,"payload":${nested(40)}}`, detail: /deeper than 32/ },
  'a payload deep enough to break stacks': {
    body: `{"item":"a","at":1,"payload":${nested(200_000)}}`,
    detail: /deeper than 32/,
  },
  'a number that JSON cannot write again': {
    body: '{"item":"a","at":1,"payload":{"n":[1e400]}}',
    detail: /Infinity/,
  },
  'a key __proto__': { body: `{"item":"a","at":1,"__proto__":{"x":1}}`, detail: /__proto__/ },
  '__proto__ inside': { body: `{"item":"a","at":1,"payload":{"__proto__":{}}}`, detail: /__proto__/ },
  '__proto__ in escapes': {
    body: String.raw`{"item":"a","at":1,"payload":{"\u005f_proto__":{}}}`,
    detail: /__proto__/,
  },
  'constructor.prototype': {
    body: `{"item":"a","at":1,"payload":{"constructor":{"prototype":{}}}}`,
    detail: /constructor/,
  },
}

const inModeOne: typeof bodies = {
  'an unknown onConflict': {
    body: '{"item":"a","at":1,"onConflict":"last"}',
    detail: /onConflict is "last"/,
  },
  'an onConflict that is no text': { body: '{"item":"a","at":1,"onConflict":{}}', detail: /of type object/ },
  'an onConflict deep enough to break stacks': {
    body: `{"item":"a","at":1,"onConflict":${nested(200_000)}}`,
    detail: /of type object/,
    remedy: /choose earliest/,
  },
}

const cases = [
  ...Object.entries(bodies).map(([name, body]) => ({ name, mode: 'each', ...body }) as const),
  ...Object.entries({ ...bodies, ...inModeOne }).map(
    ([name, body]) => ({ name, mode: 'one', ...body }) as const,
  ),
]

for (const { name, mode, body, detail, remedy } of cases) {
  test(`${name} is refused with a clear problem in mode ${mode}, and puts nothing`, async (t) => {
    const serving = await serve(t, { mode })
    const answer = await ask(serving, 'POST', '/ticks', { body })
    assertProblem(answer, 400, 'invalid_input')
    assert.match(String(answer.body['detail']), detail)
    if (remedy !== undefined) assert.match(String(answer.body['remedy']), remedy)
    const counts = await serving.ticks.pool.count()
    assert.equal(counts.waiting + counts.due, 0)
  })
}

test('the far past is due now, and the far future is kept', async (t) => {
  const serving = await serve(t)
  assert.equal((await post(serving, { item: 'a', at: '0001-01-01T00:00:00Z' })).status, 202)
  assert.equal((await post(serving, { item: 'b', at: '9999-12-31T23:59:59.999Z' })).status, 202)
  const kept = await serving.ticks.pool.get('b', '9999-12-31T23:59:59.999Z')
  assert.equal(kept?.state, 'waiting')
})

test('names that only look dangerous are kept', async (t) => {
  const payload = { constructor: 'me', text: '__proto__', prototype: 1 }
  assert.equal((await post(await serve(t), { item: '__proto__', at: LATER, payload })).status, 202)
})

test('another content type is a 415 that names it', async (t) => {
  const headers = { 'content-type': 'text/xml' }
  const answer = await ask(await serve(t), 'POST', '/ticks', { body: '<a/>', headers })
  assertProblem(answer, 415, 'media_type')
  assert.match(String(answer.body['detail']), /text\/xml/)
})

test('text is read as JSON, and is still refused from another site', async (t) => {
  const serving = await serve(t)
  const request = { body: `{"item":"a","at":"${LATER}"}`, headers: { 'content-type': 'text/plain' } }
  assert.equal((await ask(serving, 'POST', '/ticks', request)).status, 202)
  const headers = { ...request.headers, origin: 'https://evil.example' }
  assertProblem(await ask(serving, 'POST', '/ticks', { ...request, headers }), 403, 'cross_site')
})

test('bytes that are not plain UTF-8 are a 415', async (t) => {
  const serving = await serve(t)
  const body = `{"item":"a","at":"${LATER}"}`
  const wrong = [
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/x-ndjson; charset="latin1"' },
    { 'content-encoding': 'gzip' },
  ]
  for (const headers of wrong) {
    assertProblem(await ask(serving, 'POST', '/ticks', { body, headers }), 415, 'media_type')
  }
  const headers = { 'content-type': 'application/json; charset="UTF-8"' }
  assert.equal((await ask(serving, 'POST', '/ticks', { body, headers })).status, 202)
})

test('an expectation that nobody can meet is a problem', async (t) => {
  const wire = await openWire(t, await serve(t))
  wire.socket.write('GET /healthy HTTP/1.1\r\nhost: localhost\r\nexpect: foo\r\n\r\n')
  await wire.receives('"code":"invalid_input"')
  assert.match(wire.received, /^HTTP\/1.1 400 [^]*problem\+json/)
})

test('lines are refused where one object is wanted', async (t) => {
  const headers = { 'content-type': 'application/x-ndjson' }
  const serving = await serve(t)
  const answer = await ask(serving, 'PATCH', `/v1/ticks/a?at=${LATER}`, { body: '{}', headers })
  assertProblem(answer, 415, 'media_type')
})

test('an unknown route is a 404 that suggests the nearest', async (t) => {
  const answer = await ask(await serve(t), 'GET', '/v1/tick')
  assertProblem(answer, 404, 'route_unknown')
  assert.match(String(answer.body['remedy']), /\/v1\/ticks/)
})

test('a known route with another method is a 405 that names the right ones', async (t) => {
  const answer = await ask(await serve(t), 'PUT', '/v1/ticks/a', { body: '{}' })
  assertProblem(answer, 405, 'method_unknown')
  assert.equal(answer.headers.get('allow'), 'GET, PATCH, DELETE')
})

test('a path that is no URL is a 400', async (t) => {
  assertProblem(await ask(await serve(t), 'GET', '/v1/ticks/%E0%A4%A'), 400, 'invalid_input')
})

test('bytes that are no HTTP get a problem on the bare socket', async (t) => {
  const wire = await openWire(t, await serve(t))
  wire.socket.write('EHLO example.org\r\n\r\n')
  await wire.receives('"code":"invalid_input"')
  assert.match(wire.received, /^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json/)
})

test('headers beyond 16 KiB are a 431', async (t) => {
  const wire = await openWire(t, await serve(t))
  wire.socket.write(`GET /healthy HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)
  await wire.receives('"code":"headers_too_large"')
})
