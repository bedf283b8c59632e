// Clients that send slowly or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, openWire, post, serve } from './serving.ts'

test('two hundred heads without an end block nobody', async (t) => {
  const serving = await serve(t)
  for (let n = 0; n < 200; n++) {
    const wire = await openWire(t, serving)
    wire.socket.write('POST /ticks HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  }
  const began = serving.race.clock.mono()
  assert.equal((await post(serving, { item: 'a', at: LATER })).status, 202)
  assert.ok(serving.race.clock.mono() - began < 1000)
})

test('a hundred streams of lines without an end block nobody', async (t) => {
  const serving = await serve(t)
  for (let n = 0; n < 100; n++) {
    const wire = await openWire(t, serving)
    wire.socket.write('POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n')
    wire.socket.write('transfer-encoding: chunked\r\n\r\n5\r\n{"ite\r\n')
  }
  const began = serving.race.clock.mono()
  assert.equal((await post(serving, { item: 'a', at: LATER })).status, 202)
  assert.ok(serving.race.clock.mono() - began < 1000)
})
