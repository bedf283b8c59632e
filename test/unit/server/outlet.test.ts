// Streams whose reader does not read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepAlive } from '../../../src/server/outlet.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { ask, fastClock, openWire, post, serve, until } from './serving.ts'

test('a reader that reads gets a comment at each beat, and one that is stuck for two beats is cut', async () => {
  const clock = new VirtualClock()
  const outlet = { closed: false, full: false }
  const response = {
    written: 0,
    cut: 0,
    write: () => ((response.written += 1), true),
    destroy: () => (response.cut += 1),
  }
  const stop = keepAlive(response as never, outlet, clock)
  await clock.advance(30_000)
  assert.deepEqual([response.written, response.cut], [2, 0])
  outlet.full = true
  await clock.advance(15_000)
  assert.equal(response.cut, 0)
  await clock.advance(15_000)
  assert.deepEqual([response.written, response.cut], [2, 1])
  stop()
})

test('a follower of an entry that does not read is cut, as one of a topic is', async (t) => {
  const serving = await serve(t, { mode: 'one' }, { clock: fastClock(40) })
  const at = '2030-01-01T00:00:00Z'
  const payload = (n: number): string => `${n}`.padEnd(900_000, 'x')
  await post(serving, { item: 'a', at, payload: payload(0) })
  const wire = await openWire(t, serving)
  const head =
    'GET /v1/pools/ticks/entries/a HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n'
  wire.socket.write(head)
  await wire.receives('200 OK')
  wire.socket.pause()
  let gone = false
  wire.socket.once('close', () => (gone = true))
  for (let n = 1; n < 40; n++) {
    await ask(serving, 'POST', '/ticks', {
      body: JSON.stringify({ item: 'a', at, onConflict: 'replace', payload: payload(n) }),
    })
  }
  const connections = async (): Promise<boolean> => {
    // Only a reader that reads sees that the other side has gone.
    if (gone || wire.failure !== null) return true
    wire.socket.write('x')
    return false
  }
  await until(connections, 'the cut', 20_000)
})
