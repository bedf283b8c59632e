// Load on bare keep-alive sockets, one request at a time on each, and a record of every request and its answer.
// It shares no code with the product's own generator: a witness must not make the same mistake.
import { type Socket, connect } from 'node:net'
import type { Post } from './check-ticks.ts'

export interface PostRecord extends Post {
  sentAt: number
  answeredAt: number | null
  status: number | null
  /** The code of a problem. */
  code: string | null
}

export interface NewTick {
  item: string
  at: number
  payload?: unknown
}

export interface LoadParts {
  port: number
  connections: number
  /** The next tick to post; each (item, at) comes once. */
  next(): NewTick
  /** Where every request is recorded. */
  history: PostRecord[]
  /** How long a connection waits after an answer; not at all unless said. */
  pauseMs?: number
}

const QUIET_WITHIN_MS = 30_000

export class Load {
  readonly #lines: Line[]
  #sending = true

  constructor(parts: LoadParts) {
    this.#lines = Array.from({ length: parts.connections }, () => new Line(parts, () => this.#sending))
  }

  /** Requests that were sent and are not answered. */
  get inFlight(): number {
    return this.#lines.filter(({ busy }) => busy).length
  }

  /** Sends nothing more; what is in flight may still be answered. */
  hold(): void {
    this.#sending = false
  }

  /** Answers when every connection has closed by itself, which a server does when it dies or drains. */
  async closed(): Promise<void> {
    await Promise.race([Promise.all(this.#lines.map(({ ended }) => ended)), overdue('connections stay open')])
  }

  /** Sends nothing more, waits for the answers to what is in flight, and closes. */
  async finish(): Promise<void> {
    this.hold()
    for (const line of this.#lines) line.finish()
    await this.closed()
  }
}

/** One connection. */
class Line {
  readonly ended: Promise<void>
  readonly #parts: LoadParts
  readonly #sending: () => boolean
  readonly #socket: Socket
  #post: PostRecord | null = null
  #text = ''
  #finishing = false

  constructor(parts: LoadParts, sending: () => boolean) {
    this.#parts = parts
    this.#sending = sending
    this.#socket = connect({ host: '127.0.0.1', port: parts.port, noDelay: true })
    this.#socket.setEncoding('utf8')
    this.#socket.on('connect', () => this.#send())
    this.#socket.on('data', (text: string) => this.#read(text))
    this.#socket.on('error', () => undefined)
    this.ended = new Promise((resolve) => {
      this.#socket.on('close', () => {
        if (this.#post !== null) this.#post.outcome = 'info'
        this.#post = null
        resolve()
      })
    })
  }

  get busy(): boolean {
    return this.#post !== null
  }

  finish(): void {
    this.#finishing = true
    if (!this.busy) this.#socket.destroy()
  }

  #send(): void {
    if (!this.#sending()) return
    const tick = this.#parts.next()
    const body = JSON.stringify({ ...tick, at: new Date(tick.at).toISOString() })
    const { item, at } = tick
    const open = { answeredAt: null, status: null, code: null }
    this.#post = { item, at, outcome: 'invoke', sentAt: performance.now(), ...open }
    this.#parts.history.push(this.#post)
    const head = `POST /ticks HTTP/1.1\r\nhost: 127.0.0.1:${this.#parts.port}\r\ncontent-type: application/json`
    this.#socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #sendLater(): void {
    const { pauseMs = 0 } = this.#parts
    if (pauseMs === 0) this.#send()
    else {
      setTimeout(() => {
        if (!this.#finishing && !this.#socket.destroyed) this.#send()
      }, pauseMs)
    }
  }

  #read(text: string): void {
    this.#text += text
    const end = this.#text.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = this.#text.slice(0, end)
    const body = this.#text.slice(end + 4)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
    if (Buffer.byteLength(body) < length) return
    this.#text = ''
    this.#answered(Number(head.slice(9, 12)), body)
    if (this.#finishing || /\r\nconnection: *close/i.test(head)) this.#socket.end()
    else this.#sendLater()
  }

  #answered(status: number, body: string): void {
    const post = this.#post
    if (post === null) throw new Error(`an answer without a request: ${status} ${body}`)
    this.#post = null
    post.answeredAt = performance.now()
    post.status = status
    if (status !== 202) post.code = (JSON.parse(body) as { code: string }).code
    post.outcome = outcomeOf(status, post.code)
  }
}

/** Only what says that nothing was done is a failure; any other error may come after the commit. */
function outcomeOf(status: number, code: string | null): Post['outcome'] {
  if (status === 202) return 'ok'
  return status < 500 || code === 'store_full' || code === 'store_busy' ? 'fail' : 'info'
}

function overdue(what: string): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`after ${QUIET_WITHIN_MS} ms: ${what}`)), QUIET_WITHIN_MS).unref()
  })
}
