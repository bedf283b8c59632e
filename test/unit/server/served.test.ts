// headrace/server: the API of a race in its own process, and where the roster says that it is.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Headrace, headrace } from '../../../src/headrace.ts'
import type { OptionsInput } from '../../../src/options.ts'
import { type ServeOptions, serve } from '../../../src/server/server.ts'
import { LATER, ask, assertProblem, openWire, until } from './serving.ts'

async function open(t: TestContext, options: OptionsInput = {}): Promise<Headrace> {
  const race = await headrace({ store: 'memory:', partitions: 4, port: 0, drainWithin: 0, ...options })
  t.after(() => race.stop())
  return race
}

async function addressOf({ store }: Headrace): Promise<string | null | undefined> {
  return (await store.roster.view()).members[0]?.address
}

test('[G5] a race is served where it says, its address stands in the roster, and goes when the serving ends', async (t) => {
  const race = await open(t)
  await race.start()
  const url = await (async () => {
    await using served = await serve(race)
    assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal((await fetch(`${served.url}/healthy`)).status, 200)
    await until(async () => (await addressOf(race)) === served.url, 'its address')
    return served.url
  })()
  await assert.rejects(fetch(`${url}/healthy`))
  await until(async () => (await addressOf(race)) === null, 'no address')
  assert.equal(race.state, 'running')
})

test('[G5] a race that is served before it starts joins with its address, and an address that was given is told instead', async (t) => {
  const race = await open(t)
  await using first = await serve(race)
  await race.start()
  assert.equal(await addressOf(race), first.url)
  const second = await serve(race, { address: 'http://worker.example:80' })
  t.after(() => second.close())
  await until(async () => (await addressOf(race)) === 'http://worker.example:80', 'the address given')
})

test('a race is served off loopback only with a token, and an option that is not there is refused', async (t) => {
  const race = await open(t)
  await assert.rejects(serve(race, { host: '0.0.0.0' }), { code: 'token_required' })
  await assert.rejects(serve(race, { hots: '0.0.0.0' } as ServeOptions), {
    code: 'invalid_options',
    remedy: 'did you mean host?',
  })
  await using served = await serve(race, { token: 'a-secret-of-16-chars', host: undefined })
  assert.equal((await fetch(`${served.url}/v1/status`)).status, 401)
  const headers = { authorization: 'Bearer a-secret-of-16-chars' }
  assert.equal((await fetch(`${served.url}/v1/status`, { headers })).status, 200)
})

test('a race without ticks takes requests for those of its store, says where there are none, and moves none itself', async (t) => {
  const race = await open(t)
  const work = race.pool('vms')
  race.work(work, () => undefined)
  await race.start()
  await using served = await serve(race)
  const serving = { url: served.url }
  const post = { body: JSON.stringify({ item: 'a', at: LATER }) }
  for (const [method, path] of [
    ['POST', '/ticks'],
    ['GET', '/v1/ticks'],
  ] as const) {
    assertProblem(await ask(serving, method, path, method === 'POST' ? post : {}), 404, 'pool_unknown')
  }
  assert.equal((await ask(serving, 'GET', '/v1/status')).body['ticks'], null)
  assert.match(String((await ask(serving, 'GET', '/')).body['text']), /Ticks<\/h2><p>None/)
  const put = await ask(serving, 'PUT', '/v1/pools/ticks', { body: JSON.stringify({ mode: 'one' }) })
  assert.equal(put.status, 200, JSON.stringify(put.body))
  assert.equal((await ask(serving, 'POST', '/ticks', post)).status, 202)
  const { ticks } = (await ask(serving, 'GET', '/v1/status')).body as { ticks: { mode: string } }
  assert.equal(ticks.mode, 'one')
  assert.deepEqual(
    race.services().filter(({ name }) => name.includes('ticks')),
    [],
  )
})

test('[G5] of two open servers the one that is left keeps its address in the roster, whichever ends', async (t) => {
  const race = await open(t)
  await race.start()
  await using first = await serve(race)
  const second = await serve(race)
  await until(async () => (await addressOf(race)) === second.url, 'the address of the latest')
  const third = await serve(race, { address: 'http://worker.example/headrace' })
  await second.close()
  await until(async () => (await addressOf(race)) === 'http://worker.example/headrace', 'that of the third')
  await third.close()
  await until(async () => (await addressOf(race)) === first.url, 'that of the first')
})

test('[G5] a race that stops closes what serves it, and to close that again is harmless', async (t) => {
  const race = await open(t)
  const first = await serve(race)
  await race.start()
  const second = await serve(race)
  t.after(() => second.close())
  await Promise.all([race.stop(), race.stop(), first.close()])
  for (const { url } of [first, second]) await assert.rejects(fetch(`${url}/healthy`))
  await second.close()
  await assert.rejects(serve(race), { code: 'not_running' })
})

test('[X17] a race that stops takes no more at once, while a request that is slow to come is still waited for', async (t) => {
  const race = await open(t, { drainWithin: '10s' })
  const pool = race.pool('vms')
  race.work(pool, () => undefined)
  await race.start()
  const served = await serve(race)
  const wire = await openWire(t, { port: Number(new URL(served.url).port) })
  const head = ['PUT /v1/pools/vms/entries/k HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json']
  wire.socket.write([...head, 'expect: 100-continue', 'content-length: 2', '', ''].join('\r\n'))
  await wire.receives('100 Continue')
  const stopped = race.stop()
  const stateOf = (): string | undefined => race.services().find(({ name }) => name === 'work vms')?.state
  await until(() => stateOf() === 'stopped', 'a worker that has stopped')
  wire.socket.write('{}')
  await stopped
  assert.match(wire.received, /HTTP\/1\.1 202/)
})

test('ticks of another name are served where they are named', async (t) => {
  const race = await open(t)
  const ticks = race.ticks<{ mail: string }>('mails')
  await race.start()
  await using served = await serve(race, { ticks })
  const body = JSON.stringify({ item: 'a', at: LATER })
  assert.equal((await ask({ url: served.url }, 'POST', '/ticks', { body })).status, 202)
  assert.equal((await ticks.pool.count()).waiting, 1)
  const named = { ticks: 'mails' } as unknown as ServeOptions
  await assert.rejects(serve(race, named), {
    code: 'invalid_options',
    remedy: /ticks: race\.ticks\('mails'\)/,
  })
})

test('what a request opened does not bind the program that asks for the pool later', async (t) => {
  const race = await open(t)
  await race.start()
  const stored = { name: 'fans', mode: 'one', partitions: 4, rememberMs: null, fansOut: true } as const
  await race.store.pool.entries.open(stored)
  await using served = await serve(race)
  assert.equal((await ask({ url: served.url }, 'GET', '/v1/pools/fans')).status, 200)
  for (const query of ['key=a', 'key=a&pool=fans']) {
    assert.equal((await ask({ url: served.url }, 'GET', `/v1/why?${query}`)).status, 200)
  }
  assert.equal(race.known('fans'), null)
  assert.equal(race.pool('fans', { fansOut: true, deadFor: '90d', throttle: '2s' }).name, 'fans')
})
