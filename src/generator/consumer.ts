// Follows a topic over one bare socket and tells of every event's lateness. Resumes where it was after the
// connection was lost.
import { type Socket, connect } from 'node:net'
import type { Clock, Timer } from '../clock.ts'
import { ChunkReader } from './chunks.ts'
import { EventScanner } from './event-scanner.ts'

export interface ConsumerParts {
  host: string
  port: number
  /** As in the URL: `127.0.0.1:7400`. */
  hostHeader: string
  token: string | null
  topic: string
  /** Only events of keys that begin with it count. */
  keyPrefix?: string
  clock: Clock
  /** Told of every event that counts; null: it holds no times. */
  event(lateMs: number | null): void
  lost(reason: string): void
}

const REOPEN_MS = 250
const READ_BYTES = 256 * 1024
const HEAD_END = '\r\n\r\n'
const LONGEST_HEAD = 16_384

export class Consumer {
  readonly #parts: ConsumerParts
  readonly #scanner: EventScanner
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  readonly #following = Promise.withResolvers<void>()
  readonly #hand = (part: string): void => this.#scanner.take(part)
  #socket: Socket | null = null
  #head: string | null = ''
  #chunks: ChunkReader | null = null
  #reason: string | null = null
  #reopening: Timer | null = null
  #ended = false

  constructor(parts: ConsumerParts) {
    this.#parts = parts
    const { keyPrefix = '' } = parts
    this.#scanner = new EventScanner((lateMs) => parts.event(lateMs), { keyPrefix })
  }

  /** Resolves when the server has begun to answer, so that nothing appended from then on is missed. */
  get following(): Promise<void> {
    return this.#following.promise
  }

  open(): void {
    this.#head = ''
    this.#reason = null
    this.#scanner.reset()
    const socket = connect({
      host: this.#parts.host,
      port: this.#parts.port,
      onread: { buffer: this.#buffer, callback: (count) => this.#read(count) },
    })
    socket.on('connect', () => socket.write(this.#request(), 'latin1'))
    socket.on('error', (error: NodeJS.ErrnoException) => (this.#reason = error.code ?? error.message))
    socket.on('close', () => this.#closed())
    this.#socket = socket
  }

  close(): void {
    this.#ended = true
    this.#reopening?.cancel()
    this.#socket?.destroy()
  }

  #request(): string {
    const { hostHeader, topic, token } = this.#parts
    const lines = [
      `GET /v1/topics/${encodeURIComponent(topic)}/events HTTP/1.1`,
      `host: ${hostHeader}`,
      'accept: text/event-stream',
    ]
    if (token !== null) lines.push(`authorization: Bearer ${token}`)
    if (this.#scanner.lastId !== null) lines.push(`last-event-id: ${this.#scanner.lastId}`)
    return `${lines.join('\r\n')}${HEAD_END}`
  }

  #read(count: number): boolean {
    const text = this.#buffer.toString('latin1', 0, count)
    const body = this.#head === null ? text : this.#takeHead(this.#head + text)
    if (body === null || body === '') return true
    if (this.#chunks === null) this.#scanner.take(body)
    else if (!this.#chunks.take(body, this.#hand)) this.#fail('unreadable answer')
    return true
  }

  /** What stands after the head; null while it has not ended, or when it is no stream of events. */
  #takeHead(text: string): string | null {
    const end = text.indexOf(HEAD_END)
    if (end < 0) {
      this.#head = text
      if (text.length > LONGEST_HEAD) this.#fail('unreadable answer')
      return null
    }
    const head = text.slice(0, end)
    const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]
    if (status !== '200') return this.#fail(`status ${status ?? 'unknown'} of the topic's events`)
    this.#head = null
    this.#chunks = /\r\ntransfer-encoding: *chunked/i.test(head) ? new ChunkReader() : null
    this.#following.resolve()
    return text.slice(end + HEAD_END.length)
  }

  #fail(reason: string): null {
    this.#reason = reason
    this.#socket?.destroy()
    return null
  }

  #closed(): void {
    if (this.#ended) return
    this.#parts.lost(this.#reason ?? 'closed by the server')
    this.#reopening = this.#parts.clock.timer(REOPEN_MS, () => this.open())
  }
}
