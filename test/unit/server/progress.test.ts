// What a run tells of itself, over HTTP: with its entry, and by server-sent events.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunContext } from '../../../src/pool/run.ts'
import { ask, fastClock, openWire, serve, until } from './serving.ts'

test('[Z5] the progress of a run is seen with its entry, and streamed until the entry is gone', async (t) => {
  const serving = await serve(t, {}, { clock: fastClock(20) })
  const pool = serving.race.pool('vms')
  const run = Promise.withResolvers<void>()
  let ctx: RunContext | undefined
  serving.race.work(pool, (_, given) => {
    ctx = given
    return run.promise
  })
  await pool.put('a')
  await until(() => ctx !== undefined, 'a run')
  const path = '/v1/pools/vms/entries/a'
  const wire = await openWire(t, serving)
  wire.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`)
  await wire.receives('event: entry\ndata: {"key":"a"')
  assert.equal((await ask(serving, 'GET', path)).body['progress'], undefined)
  ctx?.progress({ done: 7 })
  await wire.receives('"progress":{"done":7},"progressAt":"2')
  const { body } = await ask(serving, 'GET', path)
  assert.deepEqual([body['progress'], typeof body['progressAt']], [{ done: 7 }, 'string'])
  run.resolve()
  await wire.receives('event: gone\ndata: {}')
  await until(() => wire.closed, 'the end of the stream')
})

test('an entry that is not there cannot be followed', async (t) => {
  const serving = await serve(t)
  await ask(serving, 'PUT', '/v1/pools/vms')
  const headers = { accept: 'text/event-stream' }
  assert.equal((await ask(serving, 'GET', '/v1/pools/vms/entries/a', { headers })).status, 404)
})

test('a stream of an entry ends when the server closes', async (t) => {
  const serving = await serve(t)
  await ask(serving, 'PUT', '/v1/pools/vms')
  await ask(serving, 'PUT', '/v1/pools/vms/entries/a', { body: '{"at":"2099-01-01T00:00:00Z"}' })
  const wire = await openWire(t, serving)
  wire.socket.write(
    'GET /v1/pools/vms/entries/a HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n',
  )
  await wire.receives('event: entry')
  await serving.server.close()
  await until(() => wire.closed, 'the end of the stream')
})
