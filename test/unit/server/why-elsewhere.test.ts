// /v1/why of a key that another member owns, or whose pool nobody named.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { headrace } from '../../../src/headrace.ts'
import { dead } from '../../../src/pool/answer.ts'
import { type ServeOptions, serve } from '../../../src/server/server.ts'
import { LATER, ask, until } from './serving.ts'
import { type Place, Stage, causeIn, held, inTime, joinGhost, untilReason } from './why/situation.ts'

const TOKEN = 'the-token-of-both'

/** A server beside a worker process that may be served itself, on one store; the worker runs `k`. */
async function openTwo(t: TestContext, worker: ServeOptions | null, token?: string): Promise<Place> {
  const stage = new Stage()
  t.after(() => stage.end())
  const shared = await stage.open()
  const { handler, release } = held()
  const race = await headrace(
    { store: 'memory:', partitions: 4, name: 'worker', drainWithin: 0, port: 0 },
    shared,
  )
  const pool = race.pool('vms')
  race.work(pool, handler)
  await race.start()
  stage.after(() => race.stop())
  stage.after(async () => release())
  if (worker !== null) {
    const served = await serve(race, worker)
    stage.after(() => served.close())
  }
  const options = token === undefined ? {} : { token }
  const place = await stage.serve(null, { name: 'front', ...options }, shared)
  await pool.put('k')
  await until(async () => (await race.why(pool, 'k')).state === 'running', 'its run')
  return place
}

/** A member that owns `vms`, lives as long as nobody judges it, and is reached at this address. */
async function openGhost(t: TestContext, address: string): Promise<Place> {
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve(null, { lease: '60s' })
  const id = await joinGhost(place.race, 'vms')
  await place.race.store.roster.reach(id, address)
  await place.pool.put('k')
  return place
}

test('[I12] what another member runs is told by that member, whichever is asked', async (t) => {
  const { why } = await openTwo(t, {})
  const told = await inTime(() => why('k'))()
  assert.deepEqual([told['state'], told['reason'], told['alsoIn']], ['running', null, []])
  assert.equal((told['evidence'] as Record<string, unknown>)['attempt'], 1)
  assert.equal((told['owner'] as { name: string }).name, 'worker')
})

test('[I12] the owner is asked with a proof of the token of the server that asks', async (t) => {
  const place = await openTwo(t, { token: TOKEN }, TOKEN)
  const headers = { authorization: `Bearer ${TOKEN}` }
  const asked = async () => (await ask(place, 'GET', '/v1/why?pool=vms&key=k', { headers })).body
  assert.equal((await inTime(asked)())['state'], 'running')
})

test('[I12] where the owner refuses, or is not served, what is known here is told, and whom to ask', async (t) => {
  const refused = await openTwo(t, { token: TOKEN })
  const told = await untilReason(
    inTime(() => refused.why('k')),
    'unknown',
  )
  assert.match(String(told['next']), /one token.*; ask it: headrace why k --pool vms --server http:\/\/127/)
  assert.equal(causeIn(told), 'refused: 401')
  const alone = await openTwo(t, null)
  assert.match(String((await untilReason(() => alone.why('k'), 'unknown'))['next']), /headrace\/server/)
})

test('[I12] an owner that does not answer is waited for one second, and is asked no further by whom it was asked', async (t) => {
  const asked: (string | undefined)[] = []
  const silent = createServer((request) => void asked.push(request.headers['headrace-hop']?.toString()))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close().closeAllConnections())
  const place = await openGhost(t, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  const told = await untilReason(() => place.why('k'), 'unknown')
  assert.match(causeIn(told), /^timeout/)
  const before = asked.length
  assert.ok(before > 0 && asked.every((hop) => hop === '1'))
  const { body } = await ask(place, 'GET', '/v1/why?pool=vms&key=k', { headers: { 'headrace-hop': '1' } })
  assert.equal(body['reason'], 'unknown')
  assert.equal(asked.length, before)
})

test('[I12] who answers at the address of the owner, and is another, is not believed', async (t) => {
  const told = {
    pool: 'vms',
    key: 'k',
    state: 'running',
    sentence: 'so they say',
    now: LATER,
    evidence: {},
    also: [],
  }
  const other = createServer((_request, response) => {
    response.setHeader('headrace-member', 'somebody').end(JSON.stringify(told))
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close().closeAllConnections())
  const place = await openGhost(t, `http://127.0.0.1:${(other.address() as AddressInfo).port}`)
  const found = await untilReason(
    inTime(() => place.why('k')),
    'unknown',
  )
  assert.match(String(found['sentence']), /ghost owns its partition/)
  assert.equal(causeIn(found), 'another member answered')
})

test('[I12] an answer of an owner that does not end, or lacks a part, is not passed on', async (t) => {
  let id = ''
  const told = { pool: 'vms', key: 'k', state: 'running', sentence: 'it runs', now: LATER, evidence: {} }
  const other = createServer(({ url = '' }, response) => {
    response.setHeader('headrace-member', id)
    if (url.startsWith('/short')) response.end(JSON.stringify(told))
    else for (let nth = 0; nth < 100; nth += 1) response.write('x'.repeat(10_000))
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close().closeAllConnections())
  const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const place = await openGhost(t, address)
  const owner = (await place.race.store.roster.view()).members.find(({ name }) => name === 'ghost')
  id = String(owner?.id)
  const untilCause = (cause: string): Promise<void> =>
    until(async () => causeIn(await place.why('k')) === cause, cause)
  await untilCause('its answer is too long')
  await place.race.store.roster.reach(id, `${address}/short`)
  await untilCause('its answer cannot be read')
})

test('[I8] a key whose pool is not named is looked for in all, that of ticks first, and where it was is told', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve({ handler: () => undefined })
  const { race, ticks, pool } = place
  await race.pool('other').put('a', { at: LATER })
  await pool.put('a', { at: LATER })
  await pool.put('b', { at: LATER })
  await ticks.pool.put('a', { at: LATER })
  const asked = async (key: string): Promise<Record<string, unknown>> =>
    (await ask(place, 'GET', `/v1/why?key=${key}`)).body
  const [a, b, none] = [await asked('a'), await asked('b'), await asked('none')]
  assert.deepEqual([a['pool'], a['alsoIn'], a['reason']], ['ticks', ['other', 'vms'], 'not_due'])
  assert.deepEqual([b['pool'], b['alsoIn'], b['reason']], ['vms', [], 'not_due'])
  assert.deepEqual([none['pool'], none['state'], none['next']], [null, 'absent', null])
  assert.deepEqual(none['evidence'], { lookedIn: ['ticks', 'other', 'vms'] })
})

test('[I8] the dead hide nothing: neither another entry of the key, nor another pool that has it', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve({ handler: () => dead('no') })
  const { race, pool } = place
  const slots = race.pool('slots', { mode: 'each' })
  race.work(slots, () => dead('no'))
  await slots.put('a')
  await pool.put('a')
  for (const each of [slots, pool]) await until(async () => (await each.count()).dead === 1, 'a death')
  await race.pool('zz').put('a', { at: LATER })
  const first = await ask(place, 'GET', '/v1/why?key=a')
  assert.deepEqual([first.body['pool'], first.body['alsoIn']], ['zz', ['slots', 'vms']])
  const ofSlots = async (): Promise<unknown> =>
    (await ask(place, 'GET', '/v1/why?key=a&pool=slots')).body['state']
  assert.equal(await ofSlots(), 'dead')
  await slots.put('a', { at: LATER })
  assert.equal(await ofSlots(), 'waiting')
})

test('[I8] a key is looked for in a hundred pools, and where there are more that is told', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve(null)
  for (let nth = 0; nth < 100; nth += 1) await place.race.pool(`p${nth}`).open()
  const { body } = await ask(place, 'GET', '/v1/why?key=a')
  assert.match(String(body['sentence']), /in the first 100 of 101 pools/)
  assert.match(String(body['next']), /--pool/)
  assert.equal((body['evidence'] as { lookedIn: string[] }).lookedIn.length, 100)
})

test('[I8] [T6] a pool that another process marked as one of ticks wants a member that moves them', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const { race, pool, why } = await stage.serve(null)
  await pool.put('k')
  const { control: port } = race.store.pool
  const { version, control } = await port.read('vms')
  await port.write('vms', version, { ...control, isTicks: true })
  const { sentence, next } = await untilReason(() => why('k'), 'no_consumer')
  assert.equal(sentence, 'no member moves the ticks of this pool')
  assert.match(String(next), /race\.ticks\('vms'\)/)
})
