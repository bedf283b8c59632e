// The end of a server: what was accepted is kept, what is under way is answered, nothing is cut.
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { createServer } from '../../../src/server/app.ts'
import { LATER, type Serving, ask, openWire, serve, until } from './serving.ts'

const BODY = (item: string): string => JSON.stringify({ item, at: LATER })

/** One POST on a keep-alive connection; answers the status, and whether the server closes after it. */
function postOn(agent: Agent, { port }: Serving, item: string): Promise<{ status: number; closes: boolean }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request(
      { port, host: '127.0.0.1', path: '/ticks', method: 'POST', agent, headers },
      (answer) => {
        answer.resume().once('end', () => {
          resolve({ status: answer.statusCode ?? 0, closes: answer.headers.connection === 'close' })
        })
      },
    )
    sent.once('error', reject)
    sent.end(BODY(item))
  })
}

/** For so long after a drain began a request on an open connection is answered; a busy machine may send it later. */
const ANSWERED_FOR_MS = 300

test('a drain under load loses no accepted tick and cuts no request', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const { clock } = serving.race
  let endsAt = Infinity
  const accepted: string[] = []
  let ended = 0
  const clients = Array.from({ length: 100 }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; ; n++) {
      const item = `c${client}-${n}`
      const sentAt = clock.mono()
      const answer = await postOn(agent, serving, item).catch((error: unknown) => {
        assert.ok(sentAt > endsAt, `sent ${endsAt - sentAt} ms before the end: ${String(error)}`)
      })
      if (answer === undefined) break
      assert.equal(answer.status, 202)
      accepted.push(item)
      if (answer.closes) break
    }
    ended += 1
    agent.destroy()
  })
  await until(() => accepted.length > 500, 'load')
  endsAt = clock.mono() + ANSWERED_FOR_MS
  await serving.server.close()
  await Promise.all(clients)
  assert.equal(ended, 100)
  const stored = await serving.ticks.pool.list({ limit: accepted.length + 1000 })
  const items = new Set(stored.entries.map(({ key }) => key))
  assert.deepEqual(
    accepted.filter((item) => !items.has(item)),
    [],
  )
})

test('a request whose bytes are still arriving when the drain begins is answered', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const wire = await openWire(t, serving)
  const body = BODY('a')
  wire.socket.write(`POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`)
  wire.socket.write(`content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`)
  await serving.race.clock.sleep(50)
  const closed = serving.server.close()
  await serving.race.clock.sleep(500)
  wire.socket.write(body.slice(5))
  await wire.receives('"result":"created"')
  assert.match(wire.received, /connection: close/i)
  await closed
})

test('a request that comes on an open connection soon after the drain began is answered', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const wire = await openWire(t, serving)
  wire.socket.write('GET /healthy HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await wire.receives('"ok"')
  const closed = serving.server.close()
  await serving.race.clock.sleep(100)
  wire.socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await wire.receives('connection: close')
  await closed
  assert.equal(wire.failure, null)
})

test('while it drains it is not ready, and takes no new connections', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const wire = await openWire(t, serving)
  const get = 'GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n'
  wire.socket.write(get)
  await wire.receives('"status":"ready"')
  const closed = serving.server.close()
  wire.socket.write(get)
  await wire.receives('HTTP/1.1 503')
  await wire.receives('"name":"server","ok":false,"detail":"draining"')
  await closed
  await assert.rejects(ask(serving, 'GET', '/healthy'))
})

test('a stream of lines is finished as far as it was read, and told where to go on', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const wire = await openWire(t, serving)
  const lines = `${BODY('a')}\n${BODY('b')}\n{"item"`
  wire.socket.write('POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n')
  wire.socket.write(`transfer-encoding: chunked\r\n\r\n${lines.length.toString(16)}\r\n${lines}\r\n`)
  await wire.receives('"line":2')
  const closed = serving.server.close()
  await wire.receives('"line":3,"error":{"code":"not_running"')
  await closed
  assert.equal(wire.failure, null)
  assert.equal((await serving.ticks.pool.count()).waiting, 2)
})

test('a follower is told that the stream ends', async (t) => {
  const serving = await serve(t, { drainWithin: 5000 })
  const wire = await openWire(t, serving)
  wire.socket.write('GET /v1/topics/ticks/events HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await wire.receives(': following')
  await serving.server.close()
  await wire.receives('the server ends this stream')
  assert.equal(wire.failure, null)
})

test('connections that say nothing do not hold it up', async (t) => {
  const serving = await serve(t, { drainWithin: 20_000 })
  await openWire(t, serving)
  const used = await openWire(t, serving)
  used.socket.write('GET /healthy HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await used.receives('ok')
  const began = serving.race.clock.mono()
  await serving.server.close()
  assert.ok(serving.race.clock.mono() - began < 3000)
})

test('a request that never ends is given up after drainWithin', async (t) => {
  const serving = await serve(t, { drainWithin: 400 })
  const wire = await openWire(t, serving)
  wire.socket.write('POST /ticks HTTP/1.1\r\nhost: localhost\r\n')
  await serving.race.clock.sleep(50)
  const began = serving.race.clock.mono()
  await serving.server.close()
  assert.ok(serving.race.clock.mono() - began < 3000)
})

test('closing twice is closing once, and a server that never listened closes too', async (t) => {
  const serving = await serve(t)
  await Promise.all([serving.server.close(), serving.server.close()])
  await createServer(serving.race, serving.ticks, { drainWithin: 60_000 }).close()
})
