// A server of raw sockets for tests of the generator: answers each POST as it is told, and sends events.
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { systemClock } from '../../../src/clock.ts'

export interface RawAnswer {
  status?: number
  delayMs?: number
  /** The answer comes in pieces of this many bytes, each a packet of its own. */
  pieceBytes?: number
  /** The connection is cut instead. */
  cut?: boolean
}

export interface RawServer {
  url: string
  bodies: unknown[]
  connections: number
  [Symbol.asyncDispose](): Promise<void>
}

/** `answer` is asked for every POST, with its number from 1 on; `events` is what a follower gets, in chunks. */
export async function openRawServer(parts: {
  answer?: (number: number) => RawAnswer
  events?: () => string[]
}): Promise<RawServer> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    state.connections += 1
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      const text = bytes.toString('utf8')
      if (text.startsWith('GET')) return void stream(socket, parts.events?.() ?? [])
      // Requests that were sent behind each other may come in one packet.
      for (const request of text.split(/(?=POST \/)/)) {
        state.bodies.push(JSON.parse(request.slice(request.indexOf('\r\n\r\n') + 4)))
        void reply(socket, parts.answer?.(state.bodies.length) ?? {})
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: RawServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies: [],
    connections: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return state
}

async function reply(
  socket: Socket,
  { status = 202, delayMs = 0, pieceBytes, cut }: RawAnswer,
): Promise<void> {
  if (cut === true) return void socket.destroy()
  if (delayMs > 0) await systemClock.sleep(delayMs)
  const answer = `HTTP/1.1 ${status} Said\r\ncontent-length: 2\r\n\r\n{}`
  const size = pieceBytes ?? answer.length
  for (let from = 0; from < answer.length; from += size) {
    socket.write(answer.slice(from, from + size))
    if (pieceBytes !== undefined) await systemClock.sleep(1)
  }
}

function stream(socket: Socket, events: string[]): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  for (const event of events) socket.write(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
}
