// Clients that send too much, too slowly or never to the end cost the server little and others nothing.
import assert from 'node:assert/strict'
import { type Socket, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import { Witness } from './witness.ts'

const MB = 1024 * 1024

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
