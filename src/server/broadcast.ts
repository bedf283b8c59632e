// /v1/stream: how it is going, by server-sent events, once a second. Computed once for all who listen, and not at all when
// nobody does. Who reads too slowly misses some, and never makes others wait. Rule [I7] of docs/spec/meter.md.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '../clock.ts'
import { readMeter, readVerdict } from './insight.ts'
import { STREAMED } from './meter-schemas.ts'
import { EVERY_ANSWER, OK } from './problem.ts'
import { type RouteDoc, type ServerContext, readQuery } from './route.ts'

const EVERY_MS = 1000
/** So many seconds without reading, and a listener is cut off. */
const MOST_MISSED = 30

const DOC: RouteDoc = {
  summary: 'Follows the meter and the verdict by server-sent events, once a second.',
  answer: { 'text/event-stream': STREAMED },
  errors: ['invalid_input'],
}

export function addBroadcast(app: FastifyInstance, context: ServerContext): void {
  const { race, drain } = context
  const broadcast = new Broadcast(race.clock, () => {
    const meter = JSON.stringify(readMeter(race, { window: '1s', latest: true }))
    return `event: meter\ndata: ${meter}\n\nevent: verdict\ndata: ${JSON.stringify(readVerdict(race))}\n\n`
  })
  drain.signal.addEventListener('abort', () => broadcast.end(), { once: true })
  const options = { config: { doc: DOC }, exposeHeadRoute: false }
  app.get('/v1/stream', options, async (request, reply): Promise<FastifyReply> => {
    readQuery(request.query, [])
    reply.hijack()
    reply.raw.writeHead(OK, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      ...EVERY_ANSWER,
      connection: 'close',
    })
    broadcast.add(reply.raw)
    return reply
  })
}

type Listener = Pick<ServerResponse, 'write' | 'end' | 'destroy' | 'once' | 'writableNeedDrain'>

export class Broadcast {
  readonly #clock: Clock
  readonly #compute: () => string
  /** Each with how many it has missed in a row. */
  readonly #listeners = new Map<Listener, number>()
  #timer: Timer | null = null
  #isOver = false

  constructor(clock: Clock, compute: () => string) {
    this.#clock = clock
    this.#compute = compute
  }

  /** Tells it at once how things are, and then every second until it goes. */
  add(listener: Listener): void {
    listener.once('close', () => this.#remove(listener))
    if (this.#isOver) {
      listener.end('retry: 1000\n: the server ends this stream\n\n')
      return
    }
    this.#listeners.set(listener, 0)
    listener.write(this.#compute())
    this.#timer ??= this.#arm()
  }

  /** The server drains. */
  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#timer = null
    for (const listener of this.#listeners.keys())
      listener.end('retry: 1000\n: the server ends this stream\n\n')
    this.#listeners.clear()
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size > 0) return
    this.#timer?.cancel()
    this.#timer = null
  }

  #arm(): Timer {
    return this.#clock.timer(EVERY_MS, () => this.#tell(), { background: true })
  }

  #tell(): void {
    const text = this.#compute()
    for (const [listener, missed] of this.#listeners) {
      if (!listener.writableNeedDrain) {
        listener.write(text)
        this.#listeners.set(listener, 0)
      } else if (missed < MOST_MISSED) this.#listeners.set(listener, missed + 1)
      else listener.destroy()
    }
    this.#timer = this.#listeners.size === 0 ? null : this.#arm()
  }
}
