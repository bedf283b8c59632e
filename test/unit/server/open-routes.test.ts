// Routes that need no token: what anyone may ask of them costs the store nothing and memory little.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Serving, type Wire, ask, openWire, serve, until } from './serving.ts'

const TOKEN = 'a-token-that-is-long-enough'
const FLOOD = 20_000

/** Counts the calls of the store's pulse: those that carry a beat, and all others. */
function countPulses({ race: { store } }: Serving): { beats: number; others: number } {
  const counted = { beats: 0, others: 0 }
  const pulse = store.pulse.bind(store)
  store.pulse = (request) => {
    if (request.beat === null) counted.others += 1
    else counted.beats += 1
    return pulse(request)
  }
  return counted
}

async function flood(t: TestContext, serving: Serving, connections: number): Promise<Wire[]> {
  const request = 'GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n'
  const wires = await Promise.all(Array.from({ length: connections }, () => openWire(t, serving)))
  for (const { socket } of wires) socket.write(request.repeat(FLOOD / connections))
  return wires
}

for (const connections of [1, 10]) {
  test(`a flood of /readyz on ${connections} connections asks the store nothing, and the heart beats on`, async (t) => {
    const serving = await serve(t, { token: TOKEN, race: { lease: 1500 } })
    const pulses = countPulses(serving)
    const wires = await flood(t, serving, connections)
    const isOver = ({ received, closed, failure }: Wire): boolean =>
      closed || failure !== null || received.split('HTTP/1.1 ').length > FLOOD / connections
    await until(() => wires.every(isOver), 'the flood is answered or cut', 20_000)
    const { beats } = pulses
    await until(() => pulses.beats > beats, 'the next beat')
    assert.equal(pulses.others, 0)
    assert.ok(serving.race.roster.isTrusted)
    assert.equal((await ask(serving, 'GET', '/readyz')).status, 200)
  })
}

test('a connection that sends open requests without waiting for answers is cut, and others are served', async (t) => {
  const serving = await serve(t, { token: TOKEN })
  let routed = 0
  serving.race.telemetry.on('http.unauthorized', () => (routed += 1))
  for (const path of ['/healthy', '/v1/status', '/no/such/route']) {
    const wire = await openWire(t, serving)
    wire.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(FLOOD))
    await until(() => wire.closed || wire.failure !== null, `the cut of ${path}`)
    assert.ok(wire.received.split('HTTP/1.1 ').length - 1 <= 200, path)
    assert.ok(routed <= 200, `${routed} requests to ${path} met a route`)
    routed = 0
  }
  // What is cut counts no more: 50 times 100 would fill the bound for all.
  for (let cut = 0; cut < 60; cut++) {
    const wire = await openWire(t, serving)
    wire.socket.write('GET /healthy HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(150))
    await until(() => wire.closed || wire.failure !== null, 'one more cut')
  }
  const headers = { authorization: `Bearer ${TOKEN}` }
  assert.equal((await ask(serving, 'GET', '/v1/status', { headers })).status, 200)
  const wire = await openWire(t, serving)
  wire.socket.write('GET /healthy HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(50))
  await until(() => wire.received.split('HTTP/1.1 200').length === 51, 'fifty answers')
})

test('without the token readiness is the status alone; with it, or where none is set, every check', async (t) => {
  const guarded = await serve(t, { token: TOKEN })
  const read = async (serving: Serving, headers: Record<string, string> = {}): Promise<string[]> =>
    Object.keys((await ask(serving, 'GET', '/readyz', { headers })).body)
  assert.deepEqual(await read(guarded), ['status'])
  assert.deepEqual(await read(guarded, { authorization: 'Bearer not-the-right-token' }), ['status'])
  assert.deepEqual(await read(guarded, { authorization: `Bearer ${TOKEN}` }), ['status', 'checks'])
  assert.deepEqual(await read(await serve(t)), ['status', 'checks'])
  guarded.race.store.pulse = () => Promise.reject(new Error('disk gone'))
  await until(async () => (await ask(guarded, 'GET', '/readyz')).status === 503, 'unready')
  assert.deepEqual((await ask(guarded, 'GET', '/readyz')).body, { status: 'unready' })
})
