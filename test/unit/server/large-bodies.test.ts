// Bodies beyond the limit: refused with its name, and not read to their end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, type Wire, ask, assertProblem, openWire, post, serve, until } from './serving.ts'

const MEBIBYTE = 1024 * 1024

test('a body beyond 1 MiB is a 413 that names the limit', async (t) => {
  const serving = await serve(t)
  const body = JSON.stringify({ item: 'a', at: LATER, payload: 'x'.repeat(MEBIBYTE) })
  const answer = await ask(serving, 'POST', '/ticks', { body })
  assertProblem(answer, 413, 'body_too_large')
  assert.match(String(answer.body['detail']), /1048576/)
  assert.equal((await post(serving, { item: 'a', at: LATER })).status, 202)
})

test('a body of just 1 MiB is accepted', async (t) => {
  const frame = JSON.stringify({ item: 'a', at: LATER, payload: '' }).length
  const payload = 'x'.repeat(MEBIBYTE - frame)
  assert.equal((await post(await serve(t), { item: 'a', at: LATER, payload })).status, 202)
})

async function sendForever(wire: Wire, chunk: string, most: number): Promise<number> {
  let sent = 0
  while (sent < most && !wire.closed && wire.failure === null) {
    sent += chunk.length
    if (!wire.socket.write(chunk)) {
      await until(() => !wire.socket.writableNeedDrain || wire.closed || wire.failure !== null, 'room')
    }
  }
  return sent
}

test('a body of 100 MB is refused at its head and never read whole', async (t) => {
  const wire = await openWire(t, await serve(t))
  const head = 'POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
  wire.socket.write(`${head}content-length: 100000000\r\n\r\n`)
  await wire.receives('"code":"body_too_large"')
  const sent = await sendForever(wire, 'x'.repeat(65_536), 100_000_000)
  await until(() => wire.closed || wire.failure !== null, 'the end of the connection')
  assert.ok(sent < 50_000_000, `${sent} bytes were taken`)
})

test('a chunked body beyond 1 MiB is refused while it is read', async (t) => {
  const wire = await openWire(t, await serve(t))
  const head = 'POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
  wire.socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  await sendForever(wire, chunk, 2 * MEBIBYTE)
  await wire.receives('"code":"body_too_large"')
  assert.match(wire.received, /^HTTP\/1\.1 413 /)
})
