// One client that follows a topic: reads pages from the store and writes them as server-sent events, no faster
// than the client reads. Woken by the store's hints; looks by itself once a second, in case one was lost.
import type { ServerResponse } from 'node:http'
import { Alarm } from '../alarm.ts'
import type { LogEvent, Position } from '../log/store.ts'
import { writeFollowedEvent } from './event-json.ts'
import { Outlet, keepAlive } from './outlet.ts'
import { EVERY_ANSWER, OK, problemOf, toHeadraceError } from './problem.ts'
import type { ServerContext } from './route.ts'

const LOOK_MS = 1000
/** The shortest time between two looks, so that a busy topic costs each client at most 40 reads a second. */
const GATHER_MS = 25
/** What is read for a client at a time, and so what is held for one that does not read: an event may have 1 MiB. */
const PAGE_EVENTS = 500
const PAGE_BYTES = 256 * 1024
const WRITE_CHARACTERS = 64 * 1024

export interface Followed {
  topic: string
  /** Where to go on, per partition. */
  positions: Map<number, number>
  /** The whole topic: ids name the positions of all partitions. */
  whole: boolean
}

export class Follower {
  readonly #context: ServerContext
  readonly #followed: Followed
  readonly #response: ServerResponse
  readonly #outlet: Outlet
  readonly #alarm: Alarm
  readonly #stop = new AbortController()
  /** The partition that the last page ended in: the next one begins after it, so that none has to wait. */
  #last = -1

  constructor(context: ServerContext, followed: Followed, response: ServerResponse) {
    this.#context = context
    this.#followed = followed
    this.#response = response
    this.#outlet = new Outlet(response)
    this.#alarm = new Alarm(context.race.clock)
  }

  /** Runs until the client goes, the server drains, or the store fails. Never rejects. */
  async run(): Promise<void> {
    const { race, drain } = this.#context
    this.#begin()
    const stop = (): void => this.#stop.abort()
    drain.signal.addEventListener('abort', stop, { once: true })
    this.#response.once('close', stop)
    if (drain.draining) stop()
    const unwatch = race.store.watch((hint) => {
      const ours =
        hint.kind === 'foreign' || (hint.kind === 'appended' && hint.topic === this.#followed.topic)
      if (ours) this.#alarm.wakeBy(race.clock.now())
    })
    const stopHeart = keepAlive(this.#response, this.#outlet, race.clock)
    await this.#follow().catch((error: unknown) => this.#fail(error))
    stopHeart()
    unwatch()
    drain.signal.removeEventListener('abort', stop)
    if (!this.#outlet.closed) this.#response.end('retry: 1000\n: the server ends this stream\n\n')
  }

  #begin(): void {
    this.#response.writeHead(OK, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      ...EVERY_ANSWER,
      connection: 'close',
    })
    // A client that loses the connection before its first event goes on from here, and misses nothing.
    this.#response.write(`: following\n${this.#followed.whole ? this.#positions() : ''}\n`)
  }

  async #follow(): Promise<void> {
    const { clock } = this.#context.race
    while (!this.#stop.signal.aborted) {
      this.#alarm.reset()
      const more = await this.#flush()
      const next = more ? clock.now() : clock.now() + LOOK_MS
      await this.#alarm.sleepUntil(next, more ? 0 : GATHER_MS, this.#stop.signal)
    }
  }

  /** Sends one page of what is new, in one read of the store; answers whether there is more. */
  async #flush(): Promise<boolean> {
    const { topic, positions } = this.#followed
    const { events, more } = await this.#context.race.store.log.read(topic, {
      from: this.#inTurn(),
      limit: PAGE_EVENTS,
      maxBytes: PAGE_BYTES,
    })
    for (const { partition, offset } of events) positions.set(partition, offset + 1)
    this.#last = events.at(-1)?.partition ?? this.#last
    await this.#send(events)
    return more
  }

  #inTurn(): Position[] {
    const all = [...this.#followed.positions].map(([partition, offset]) => ({ partition, offset }))
    const next = all.findIndex(({ partition }) => partition > this.#last)
    return next === -1 ? all : [...all.slice(next), ...all.slice(0, next)]
  }

  async #send(events: LogEvent[]): Promise<void> {
    let text = ''
    for (const [index, event] of events.entries()) {
      text += `${this.#id(event, index === events.length - 1)}data: ${writeFollowedEvent(event)}\n\n`
      if (text.length < WRITE_CHARACTERS) continue
      await this.#outlet.write(text)
      text = ''
    }
    await this.#outlet.write(text)
  }

  /** Positions of a whole topic are long, so only the last message of a page carries them. */
  #id(event: LogEvent, isLast: boolean): string {
    if (!this.#followed.whole) return `id: ${event.offset}\n`
    return isLast ? this.#positions() : ''
  }

  #positions(): string {
    const positions = [...this.#followed.positions].map(([partition, offset]) => `${partition}:${offset}`)
    return `id: ${positions.join(',')}\n`
  }

  #fail(error: unknown): void {
    if (this.#outlet.closed) return
    this.#response.write(`event: problem\ndata: ${JSON.stringify(problemOf(toHeadraceError(error)))}\n\n`)
  }
}
