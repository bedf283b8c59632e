// What becomes of a body that was answered before it was read to its end: a little of it is read and dropped, so
// that the client can read the answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../clock.ts'

/** How long what a client still sends is read and dropped, so that it can read our last words. */
const LINGER_MS = 1000
/** The most bytes of a refused body that are read and dropped before the connection is cut. */
const DROPPED_BYTES = 4 * 1024 * 1024

/** Ends an answer whose request has not been read to its end, and then the connection. */
export function endEarly(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  const { socket } = request
  response.end(() => {
    socket.end()
    request.removeAllListeners('readable').resume()
    const timer = clock.timer(LINGER_MS, () => socket.destroy(), { background: true })
    socket.once('close', () => timer.cancel())
  })
}

/** Lets a client that sends too much read the refusal, and cuts it when it goes on for too long. */
export function dropRest(request: IncomingMessage): void {
  let dropped = 0
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > DROPPED_BYTES) request.socket.destroy()
  })
}
