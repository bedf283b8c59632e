// A store that stands still: what waits for it has a bound, probes are answered, and afterwards all goes on.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Load } from '../../../src/server/load.ts'
import {
  LATER,
  type Serving,
  type Wire,
  ask,
  assertProblem,
  openWire,
  post,
  serve,
  until,
} from './serving.ts'

/** A hundred more than may wait. */
const FLOOD = 10_100
const BODY = JSON.stringify({ item: 'a', at: LATER })
const REQUEST = `POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`

/** The store answers no put until the returned function is called. */
function stand({ race }: Serving): () => void {
  const { entries } = race.store.pool
  const put = entries.put.bind(entries)
  const { promise, resolve } = Promise.withResolvers<void>()
  entries.put = async (...args) => {
    await promise
    return put(...args)
  }
  return resolve
}

async function flood(t: TestContext, serving: Serving): Promise<Wire> {
  const wire = await openWire(t, serving)
  wire.socket.write(REQUEST.repeat(FLOOD))
  const probe = async (): Promise<boolean> => (await ask(serving, 'GET', '/v1/topics')).status === 503
  await until(probe, 'the bound is reached', 20_000)
  return wire
}

test('one connection that sends without end is refused, not gathered; and answered when the store goes on', async (t) => {
  const serving = await serve(t)
  const goOn = stand(serving)
  const wire = await flood(t, serving)
  assertProblem(await post(serving, { item: 'b', at: LATER }), 503, 'store_busy')
  assert.equal((await ask(serving, 'GET', '/healthy')).status, 200)
  goOn()
  const answers = (status: string): number => wire.received.split(`HTTP/1.1 ${status}`).length - 1
  await until(() => answers('') === FLOOD, 'all are answered', 20_000)
  assert.ok(answers('202') >= 9990 && answers('202') <= 10_000, `${answers('202')} were accepted`)
  assert.equal((await post(serving, { item: 'c', at: LATER })).status, 202)
})

test('requests of a connection that is gone count no more once the store has answered them', async (t) => {
  const serving = await serve(t)
  const goOn = stand(serving)
  const wire = await flood(t, serving)
  wire.socket.destroy()
  goOn()
  const hasRoom = async (): Promise<boolean> => (await ask(serving, 'GET', '/v1/topics')).status === 200
  await until(hasRoom, 'there is room again', 20_000)
  assert.equal((await post(serving, { item: 'c', at: LATER })).status, 202)
})

test('a request whose client goes away counts no more', async (t) => {
  const serving = await serve(t)
  const { entries } = serving.race.store.pool
  entries.put = () => new Promise(() => undefined)
  const length = 1024 * 1024
  for (let gone = 0; gone < 300; gone += 1) {
    const wire = await openWire(t, serving)
    wire.socket.write(`POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n{`)
    wire.socket.destroy()
  }
  // 256 of them would fill the bound.
  const answer = await ask(serving, 'GET', '/v1/topics')
  assert.equal(answer.status, 200)
})

test('bodies count by their length, and one without a length as the largest', () => {
  const load = new Load({ requests: 100, bytes: 2 * 1024 * 1024 })
  const begin = (headers: Record<string, string>): EventEmitter => {
    const raw = new EventEmitter()
    load.begin({ headers }, { raw })
    return raw
  }
  const first = begin({ 'transfer-encoding': 'chunked' })
  begin({ 'content-length': String(1024 * 1024) })
  const refused = { code: 'store_busy', retryable: true }
  assert.throws(() => begin({ 'content-length': '1' }), refused)
  first.emit('close')
  begin({ 'content-length': '1' })
})
