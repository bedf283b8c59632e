// What one server sends another to be answered: a proof of the token, never the token.
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { HOP_HEADER, type Hop, writeHop } from '../../../src/server/hop.ts'
import { type Serving, ask, assertProblem, serve } from './serving.ts'
import { Stage, causeIn, inTime, joinGhost, untilReason } from './why/situation.ts'

const TOKEN = 'correct-horse-battery-staple'
const PATH = '/v1/why?pool=vms&key=k'

/** A server that answers nothing of use, at an address that stands in the roster; and what it was sent. */
async function openStranger(t: TestContext): Promise<{ url: string; sent: [string, IncomingHttpHeaders][] }> {
  const sent: [string, IncomingHttpHeaders][] = []
  const stranger = createServer(({ url = '', headers }, response) => {
    sent.push([url, headers])
    response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  t.after(() => stranger.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`, sent }
}

test('[I12] a stranger at the address of an owner never sees the token, and is asked below the path of the address', async (t) => {
  const { url, sent } = await openStranger(t)
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve(null, { lease: '60s', token: TOKEN })
  const id = await joinGhost(place.race, 'vms')
  await place.race.store.roster.reach(id, `${url}/behind/`)
  await place.pool.put('k')
  const headers = { authorization: `Bearer ${TOKEN}` }
  const asked = async () => (await ask(place, 'GET', PATH, { headers })).body
  assert.equal(causeIn(await untilReason(inTime(asked), 'unknown')), 'refused: 404')
  const [[path, received]] = sent as [[string, IncomingHttpHeaders]]
  assert.equal(path, `/behind${PATH}`)
  assert.equal(received.authorization, undefined)
  assert.match(String(received[HOP_HEADER]), /^\d+\.[\w-]{43}$/)
  assert.ok(!JSON.stringify(sent).includes(TOKEN))
})

test('[I12] where nobody is at the address of an owner, that is told', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const place = await stage.serve(null, { lease: '60s' })
  const id = await joinGhost(place.race, 'vms')
  await place.race.store.roster.reach(id, 'http://127.0.0.1:1')
  await place.pool.put('k')
  const asked = inTime(() => place.why('k'))
  assert.match(causeIn(await untilReason(asked, 'unknown')), /^unreachable/)
})

/** Asks with a proof for this question, but for what is said. */
function prove(serving: Serving, { token = TOKEN, ...but }: Partial<Hop> & { token?: string | null } = {}) {
  const hop = { member: serving.race.roster.id, path: PATH, at: serving.race.clock.now(), ...but }
  return { [HOP_HEADER]: writeHop(token, hop) }
}

test('[I12] a proof lets a server ask why in place of the token, and nothing else', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  await serving.race.pool('vms').open()
  const asked = (method: string, path: string, headers: Record<string, string>) =>
    ask(serving, method, path, { headers })
  assert.equal((await asked('GET', PATH, prove(serving))).status, 200)
  for (const path of ['/v1/status', '/v1/pools', '/nothing-here']) {
    assertProblem(await asked('GET', path, prove(serving, { path })), 401, 'unauthorized')
  }
  assert.equal((await asked('HEAD', PATH, prove(serving))).status, 401)
})

test('[I12] a proof by another token, for another member, question or time, or a bare mark, is refused', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  await serving.race.pool('vms').open()
  const now = serving.race.clock.now()
  const wrong = [
    prove(serving, { token: 'another-token-of-this-length' }),
    prove(serving, { member: 'another' }),
    prove(serving, { path: '/v1/why?pool=vms&key=l' }),
    prove(serving, { at: now - 31_000 }),
    prove(serving, { at: now + 60_000 }),
    prove(serving, { token: null }),
    { [HOP_HEADER]: `${now}.${'A'.repeat(43)}` },
    { [HOP_HEADER]: prove(serving, { at: now - 31_000 })[HOP_HEADER].replace(/^\d+/, String(now)) },
    { ...prove(serving), authorization: 'Bearer wrong' },
  ]
  for (const headers of wrong) {
    assertProblem(await ask(serving, 'GET', PATH, { headers }), 401, 'unauthorized')
  }
})
