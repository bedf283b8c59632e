// One keep-alive connection that carries one request at a time, on a bare socket: no stream of data, no promise
// and no object per request. Opens itself again after it was lost; what to send and when is the caller's.
import { type Socket, connect } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { AnswerReader } from './answer.ts'

export interface ConnectionEvents {
  /** It has just connected and may carry a request. */
  connected(connection: Connection): void
  /** The request under way was answered; another may be sent at once. */
  answered(connection: Connection, status: number): void
  /** It was lost, with the request that may have been under way; it opens again by itself. */
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
  /** When the request under way was sent, by the clock's mono(). */
  sentAt = 0
  readonly #parts: ConnectionParts
  readonly #reader = new AnswerReader()
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  #socket: Socket | null = null
  #reopening: Timer | null = null
  #busy = false
  #reason: string | null = null
  #ended = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  /** A request was sent and is not answered. */
  get busy(): boolean {
    return this.#busy
  }

  /** It is connected, and nothing is under way. */
  get ready(): boolean {
    return !this.#busy && this.#socket !== null && !this.#socket.connecting
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

  /** Sends a whole request, as latin1. Only while nothing is under way. */
  send(request: string): void {
    this.#busy = true
    this.sentAt = this.#parts.clock.mono()
    this.#socket?.write(request, 'latin1')
  }

  /** Ends for good; a request under way is given up. */
  close(): void {
    this.#ended = true
    this.#reopening?.cancel()
    this.#socket?.destroy()
  }

  #read(count: number): boolean {
    const progress = this.#reader.take(this.#buffer.subarray(0, count))
    if (progress === 'broken' || (progress !== 'more' && !this.#busy)) {
      this.#reason = 'unreadable answer'
      this.#socket?.destroy()
    } else if (progress !== 'more') {
      this.#busy = false
      this.#parts.events.answered(this, progress)
    }
    return true
  }

  #closed(): void {
    if (this.#ended) return
    this.#busy = false
    this.#socket = null
    this.#parts.events.lost(this, this.#reason ?? 'closed by the server')
    this.#reopening = this.#parts.clock.timer(REOPEN_MS, () => this.open())
  }
}
