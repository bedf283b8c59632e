// Clients that send too much, too slowly or never to the end cost the server little and others nothing.
import assert from 'node:assert/strict'
import { type Socket, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { Witness } from './witness.ts'

const MB = 1024 * 1024
const LATER = '2030-01-01T00:00:00Z'

let witness: Witness
let server: ServerProcess

before(async () => {
  witness = await Witness.create()
  server = await ServerProcess.start({ file: witness.file })
})

after(async () => {
  await server.kill()
  await witness[Symbol.asyncDispose]()
})

interface Talk {
  socket: Socket
  /** What the server said so far. */
  heard: () => string
  closed: () => boolean
}

function talk(head: string): Talk {
  const socket = connect({ host: '127.0.0.1', port: server.port })
  let heard = ''
  let closed = false
  socket.on('data', (data) => (heard += data.toString()))
  socket.on('error', () => undefined)
  socket.on('close', () => (closed = true))
  socket.write(`POST /ticks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${head}`)
  return { socket, heard: () => heard, closed: () => closed }
}

/** Sends until the server closes, at most `megabytes`; answers the bytes that the kernel took. */
async function pour({ socket, closed }: Talk, megabytes: number, chunked: boolean): Promise<number> {
  const piece = Buffer.alloc(MB, 'x')
  for (let sent = 0; sent < megabytes; sent++) {
    if (chunked) socket.write(`${MB.toString(16)}\r\n`)
    const flowing = socket.write(piece)
    if (chunked) socket.write('\r\n')
    if (!flowing) await until('the socket takes more', () => closed() || !socket.writableNeedDrain, 20_000)
    if (closed()) break
  }
  return socket.bytesWritten
}

for (const framing of ['content-length', 'chunks'] as const) {
  test(`a body of 100 MB by ${framing} is refused early, and memory does not grow by it`, async () => {
    const chunked = framing === 'chunks'
    const before = server.residentBytes()
    const sender = talk(
      chunked ? 'transfer-encoding: chunked\r\n\r\n' : `content-length: ${100 * MB}\r\n\r\n`,
    )
    const sent = await pour(sender, 100, chunked)
    await until('it is refused and cut', sender.closed, 20_000)
    assert.match(sender.heard(), /^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/)
    assert.ok(sent < 50 * MB, `${sent / MB} MB were taken`)
    assert.ok(server.residentBytes() - before < 40 * MB, `${(server.residentBytes() - before) / MB} MB`)
    assert.equal(await server.post(`beside-${framing}`, Date.now() + 3_600_000), 202)
  })
}

test('a body of 1 MiB in chunks of one byte costs little memory', async () => {
  const body = Buffer.from(JSON.stringify({ item: 'tiny', at: LATER, payload: 'x'.repeat(MB - 100) }))
  const before = server.residentBytes()
  let most = 0
  const sender = talk('transfer-encoding: chunked\r\n\r\n')
  for (let from = 0; from < body.length && !sender.closed(); from += 4096) {
    const part = body.subarray(from, from + 4096).toString()
    const flowing = sender.socket.write(
      part
        .split('')
        .map((byte) => `1\r\n${byte}\r\n`)
        .join(''),
    )
    if (!flowing)
      await until('it takes more', () => sender.closed() || !sender.socket.writableNeedDrain, 20_000)
    most = Math.max(most, server.residentBytes() - before)
  }
  sender.socket.write('0\r\n\r\n')
  await until('it is answered', () => sender.heard().includes('HTTP/1.1 413') || sender.closed(), 20_000)
  most = Math.max(most, server.residentBytes() - before)
  assert.match(sender.heard(), /"code":"body_too_large".*chunks/)
  assert.ok(most < 60 * MB, `${most / MB} MB`)
  assert.equal(await server.post('after-tiny-chunks', Date.now() + 3_600_000), 202)
})

test('clients that stop in the middle of a request are cut with 408, and others are served meanwhile', async () => {
  const slow = [
    talk('x-slow: '),
    talk('content-length: 50\r\n\r\n{"item":'),
    ...Array.from({ length: 50 }, () => talk('x-slow: ')),
  ]
  const body = slow[1] as Talk
  // A byte now and then does not buy time.
  const dripping = setInterval(() => body.socket.write(' '), 1000)
  const statuses: number[] = []
  await until(
    'every slow client is cut',
    async () => {
      statuses.push(await server.post(`beside-${statuses.length}`, Date.now() + 3_600_000))
      return slow.every(({ closed }) => closed())
    },
    50_000,
  ).finally(() => clearInterval(dripping))
  assert.ok(slow.every(({ heard }) => /^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/.test(heard())))
  assert.deepEqual([...new Set(statuses)], [202])
})

test('20,000 probes at once, on one connection and on ten, cost little memory', async () => {
  const probes = 'GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n'
  const before = server.residentBytes()
  for (const connections of [1, 10]) {
    const ends = Array.from({ length: connections }, () => {
      const socket = connect({ host: '127.0.0.1', port: server.port })
      const state = { closed: false }
      socket.on('error', () => undefined).on('close', () => (state.closed = true))
      socket.write(probes.repeat(20_000))
      return state
    })
    await until('each is cut', () => ends.every(({ closed }) => closed), 20_000)
  }
  const grown = server.residentBytes() - before
  assert.ok(grown < 150 * MB, `${grown / MB} MB`)
  assert.equal((await server.get('/readyz')).status, 200)
})
