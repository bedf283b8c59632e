// How much is asked of the server at once: what waits for a slow store is held in memory, and that has a bound. Without it
// one connection that sends requests and reads no answers would be enough to fill the memory.
import type { FastifyRequest } from 'fastify'
import type { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { LARGEST_BODY_BYTES, ServerBusy } from './problem.ts'

export interface LoadLimits {
  requests: number
  bytes: number
}

const LIMITS: LoadLimits = { requests: 10_000, bytes: 256 * 1024 * 1024 }

/** Of requests without a right token: on one connection, and all together. */
const OPEN_LIMITS = { connection: 100, requests: 5000 }

export class Load {
  readonly #limits: LoadLimits
  #requests = 0
  #bytes = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Counts a request until `raw`, its response, closes; refuses it while too much is under way. */
  begin({ headers }: Pick<FastifyRequest, 'headers'>, { raw }: { raw: EventEmitter }): void {
    const bytes = bytesOf(headers)
    this.#requests += 1
    this.#bytes += bytes
    raw.once('close', () => {
      this.#requests -= 1
      this.#bytes -= bytes
    })
    const { requests: most, bytes: mostBytes } = this.#limits
    if (this.#requests <= most && this.#bytes <= mostBytes) return
    const what = `${this.#requests - 1} requests with up to ${this.#bytes} bytes wait for their answers already`
    throw new ServerBusy(what, 'try again in a moment, and send fewer at once')
  }
}

/**
 * Counts what callers ask who have shown no token. To refuse one such request costs as much as to answer it, so a connection
 * that sends many without waiting for their answers is cut.
 */
export class OpenLoad {
  readonly #limits: typeof OPEN_LIMITS
  readonly #byConnection = new WeakMap<Socket, number>()
  #requests = 0

  constructor(limits = OPEN_LIMITS) {
    this.#limits = limits
  }

  /** Counts a request until `raw`, its response, closes. */
  begin({ socket }: Pick<FastifyRequest, 'socket'>, { raw }: { raw: EventEmitter }): void {
    const unanswered = this.#byConnection.get(socket) ?? 0
    if (unanswered >= this.#limits.connection || this.#requests >= this.#limits.requests) {
      cut(socket)
      throw new ServerBusy(
        `${unanswered} requests of this connection wait for their answers`,
        'wait for answers before you send more, or send the token',
      )
    }
    this.#requests += 1
    this.#byConnection.set(socket, unanswered + 1)
    raw.once('close', () => {
      this.#requests -= 1
      this.#byConnection.set(socket, (this.#byConnection.get(socket) ?? 1) - 1)
    })
  }
}

/**
 * Closes a connection. Node has parsed up to 1,500 of its pipelined requests by then, and aborts each with an error when the
 * socket closes: to record their stacks would block the event loop for tens of milliseconds a connection.
 */
function cut(socket: Socket): void {
  if (socket.destroyed) return
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0))
  socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit))
  socket.destroy()
}

/** What a body may take; one that is streamed is never held as a whole. */
function bytesOf({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): number {
  if (length === undefined) return encoding === undefined ? 0 : LARGEST_BODY_BYTES
  return Math.min(Number(length), LARGEST_BODY_BYTES)
}
