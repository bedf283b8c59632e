// One keep-alive connection that carries requests one behind the other, on a bare socket: no stream of data, no promise
// and no object per request. Opens itself again after it was lost; what to send and when is the caller's.
import { type Socket, connect } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { AnswerReader } from './answer.ts'

export interface ConnectionEvents {
  /** It has just connected and may carry a request. */
  connected(connection: Connection): void
  /** The oldest request under way was answered; another may be sent at once. */
  answered(connection: Connection, status: number, tookMs: number): void
  /** It was lost, with the requests that may have been under way; it opens again by itself. */
  lost(connection: Connection, reason: string): void
}

export interface ConnectionParts {
  host: string
  port: number
  clock: Clock
  events: ConnectionEvents
}

/** Answers are some hundred bytes; a longer one comes in pieces. */
const READ_BYTES = 4096

/** A lost connection waits this long, so that a server that is down is not called in a tight loop. */
const REOPEN_MS = 250

export class Connection {
  readonly #parts: ConnectionParts
  readonly #reader = new AnswerReader()
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  #socket: Socket | null = null
  #reopening: Timer | null = null
  /** When each request under way was sent, by the clock's mono(). */
  #sent: number[] = []
  #reason: string | null = null
  #ended = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  /** How many requests were sent and are not answered. */
  get underWay(): number {
    return this.#sent.length
  }

  get connected(): boolean {
    return this.#socket !== null && !this.#socket.connecting
  }

  open(): void {
    this.#reader.reset()
    this.#reason = null
    const socket = connect({
      host: this.#parts.host,
      port: this.#parts.port,
      noDelay: true,
      onread: { buffer: this.#buffer, callback: (count) => this.#read(count) },
    })
    socket.on('connect', () => this.#parts.events.connected(this))
    socket.on('error', (error: NodeJS.ErrnoException) => (this.#reason = error.code ?? error.message))
    socket.on('close', () => this.#closed())
    this.#socket = socket
  }

  /** Sends a whole request, as latin1. Only while it is connected. */
  send(request: string): void {
    this.#sent.push(this.#parts.clock.mono())
    this.#socket?.write(request, 'latin1')
  }

  /** Ends for good; a request under way is given up. */
  close(): void {
    this.#ended = true
    this.#reopening?.cancel()
    this.#socket?.destroy()
  }

  #read(count: number): boolean {
    const { clock, events } = this.#parts
    let isAsked = true
    const isReadable = this.#reader.take(this.#buffer.subarray(0, count), (status) => {
      const sentAt = this.#sent.shift()
      if (sentAt === undefined) isAsked = false
      else events.answered(this, status, clock.mono() - sentAt)
    })
    if (isReadable && isAsked) return true
    this.#reason = 'unreadable answer'
    this.#socket?.destroy()
    return true
  }

  #closed(): void {
    if (this.#ended) return
    this.#sent = []
    this.#socket = null
    this.#parts.events.lost(this, this.#reason ?? 'closed by the server')
    this.#reopening = this.#parts.clock.timer(REOPEN_MS, () => this.open())
  }
}
