// Who may ask: tokens on every route, other sites, and refusing to start open to the world.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../../src/headrace.ts'
import { createServer } from '../../../src/server/app.ts'
import { LATER, ask, assertProblem, openWire, post, serve } from './serving.ts'

const TOKEN = 'correct-horse-battery-staple'
const OPEN = ['/healthy', '/livez', '/readyz']

/** A route's pattern with something in place of each parameter. */
const pathOf = (url: string): string =>
  url.replace(':topic', 'none').replace(':item', 'none').replace(':n', '0')

test('every route but health refuses a missing and a wrong token, and lets the right one in', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  assert.ok(serving.server.routes.length >= 17, `${serving.server.routes.length} routes`)
  for (const { method, url } of serving.server.routes) {
    const request = async (headers: Record<string, string>): Promise<number> => {
      const { status, body } = await fetch(serving.url + pathOf(url), { method, headers })
      // A stream would not end.
      await body?.cancel()
      return status
    }
    const open = OPEN.includes(url)
    const name = `${method} ${url}`
    assert.equal((await request({})) === 401, !open, `${name} without a token`)
    assert.equal(
      (await request({ authorization: 'Bearer wrong' })) === 401,
      !open,
      `${name} with a wrong one`,
    )
    assert.notEqual(await request({ authorization: `Bearer ${TOKEN}` }), 401, `${name} with the right one`)
  }
})

test('HEAD and unknown routes need the token too', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  assert.equal((await ask(serving, 'HEAD', '/v1/status')).status, 401)
  assert.equal((await ask(serving, 'GET', '/nothing-here')).status, 401)
})

test('a refusal says how to send the token', async (t) => {
  const answer = await ask(await serve(t, { token: TOKEN }), 'GET', '/v1/status')
  assertProblem(answer, 401, 'unauthorized')
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
  assert.match(String(answer.body['remedy']), /Authorization: Bearer/)
})

test('failed logins are counted by reason, on every route', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  const wrong = { authorization: 'Bearer wrong-but-long-enough' }
  for (const path of ['/v1/status', '/no-such-route', '/readyz']) {
    await ask(serving, 'GET', path, { headers: wrong })
    await ask(serving, 'GET', path)
  }
  const headers = { authorization: `Bearer ${TOKEN}` }
  const { body } = await ask(serving, 'GET', '/metrics', { headers })
  // Readiness needs no token, so only a wrong one is a failed login there.
  assert.match(String(body['text']), /^headrace_http_unauthorized_total\{why="wrong"\} 3$/m)
  assert.match(String(body['text']), /^headrace_http_unauthorized_total\{why="missing"\} 2$/m)
})

test('only the whole token is right', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  const wrong = [TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), '']
  for (const token of wrong) {
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await ask(serving, 'GET', '/v1/status', { headers })).status, 401, token)
  }
  const basic = { authorization: `Basic ${Buffer.from(`a:${TOKEN}`).toString('base64')}` }
  assert.equal((await ask(serving, 'GET', '/v1/status', { headers: basic })).status, 401)
})

test('off loopback it refuses to start without a token', async (t) => {
  const race = await headrace({ store: 'memory:' })
  t.after(() => race.stop())
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org']) {
    const server = createServer(race, race.ticks(), { host, port: 0 })
    await assert.rejects(server.listen(), { code: 'token_required' }, host)
  }
})

test('a token that no header can carry, or that can be guessed, is refused at start, on loopback too', async (t) => {
  const race = await headrace({ store: 'memory:' })
  t.after(() => race.stop())
  const listen = (host: string, token: string): Promise<string> =>
    createServer(race, race.ticks(), { host, token, port: 0 }).listen()
  const bad = ['two words', 'naïve-but-long-enough', 'tab\tinside-of-the-token', '', ' ', 'x'.repeat(15)]
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    for (const token of bad) await assert.rejects(listen(host, token), { code: 'invalid_options' }, token)
  }
})

test('behind a proxy it refuses to start without a token, also on loopback', async (t) => {
  const race = await headrace({ store: 'memory:' })
  t.after(() => race.stop())
  const listen = (token: string | null): Promise<string> =>
    createServer(race, race.ticks(), { port: 0, token, behindProxy: 'yes' }).listen()
  await assert.rejects(listen(null), { code: 'token_required', message: /behind a proxy/ })
  const serving = await serve(t, { token: TOKEN, behindProxy: 'yes' })
  assert.equal((await ask(serving, 'GET', '/v1/status')).status, 401)
})

test('an address that cannot be is called so, whether or not a token is set', async (t) => {
  const race = await headrace({ store: 'memory:' })
  t.after(() => race.stop())
  for (const host of ['999.1.1.1', '127.0.0', '[::1]', ':::1']) {
    for (const token of [null, TOKEN]) {
      const server = createServer(race, race.ticks(), { host, token, port: 0 })
      await assert.rejects(server.listen(), { code: 'invalid_options', message: /no address/ }, host)
    }
  }
})

test('a change on behalf of another site is refused, whatever the route', async (t) => {
  const serving = await serve(t)
  const changes = serving.server.routes.filter(({ method }) => method !== 'GET')
  assert.ok(changes.length >= 3)
  for (const { method, url } of changes) {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      assertProblem(await ask(serving, method, pathOf(url), { headers }), 403, 'cross_site')
    }
  }
})

test('the same site, no browser, and reading pass', async (t) => {
  const serving = await serve(t)
  for (const site of ['same-origin', 'none']) {
    assert.equal((await post(serving, { item: 'a', at: LATER }, { 'sec-fetch-site': site })).status, 202)
  }
  const headers = { 'sec-fetch-site': 'cross-site' }
  assert.equal((await ask(serving, 'GET', '/v1/status', { headers })).status, 200)
})

test('an old browser that names only its origin is held to it', async (t) => {
  const serving = await serve(t)
  const tick = { item: 'a', at: LATER }
  assertProblem(await post(serving, tick, { origin: 'https://evil.example' }), 403, 'cross_site')
  assert.equal((await post(serving, tick, { origin: serving.url })).status, 202)
})

test('without a token every route refuses a name that is not this machine', async (t) => {
  const serving = await serve(t)
  const routes = serving.server.routes.map(({ method, url }) => `${method} ${pathOf(url)}`)
  for (const route of [...routes, 'HEAD /v1/status', 'GET /nothing-here']) {
    const wire = await openWire(t, serving)
    wire.socket.write(`${route} HTTP/1.1\r\nhost: rebound.example:${serving.port}\r\n\r\n`)
    await wire.receives('HTTP/1.1 403')
    if (!route.startsWith('HEAD')) await wire.receives('"code":"host_unknown"')
    wire.socket.destroy()
  }
})

test('without a token this machine may be asked for by any of its own names', async (t) => {
  const serving = await serve(t)
  const status = async (host: string): Promise<string> => {
    const wire = await openWire(t, serving)
    wire.socket.write(`GET /v1/topics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    await wire.receives('\r\n\r\n')
    return wire.received.slice(9, 12)
  }
  for (const host of ['localhost', 'LOCALHOST:7400', '127.0.0.1:1', '127.9.9.9', '[::1]', '[::1]:7400']) {
    assert.equal(await status(host), '200', host)
  }
  const others = ['', 'localhost.evil.example', '127.0.0.1.evil.example', 'a@localhost', '[::2]', '0.0.0.0']
  for (const host of others) assert.equal(await status(host), '403', host)
})

test('with a token any name will do', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  const wire = await openWire(t, serving)
  const headers = `host: headrace.example\r\nauthorization: Bearer ${TOKEN}\r\n`
  wire.socket.write(`GET /v1/status HTTP/1.1\r\n${headers}\r\n`)
  await wire.receives('HTTP/1.1 200')
})
