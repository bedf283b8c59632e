// The load generator: posts random ticks over many connections, follows their topic, and reports every true
// second what was generated, scheduled and consumed. It prints nothing; the command line and the bench do.
import { type Clock, type Timer, systemClock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { maskAddress } from '../mask.ts'
import { Connection } from './connection.ts'
import { Consumer } from './consumer.ts'
import { type Random, createRandom } from '../random.ts'
import { createRequestWriter } from './request.ts'
import { type Quantiles, type Second, type Spread, Tally, type Totals, spreadOf } from './tally.ts'

export interface GeneratorOptions {
  /** Address of the server, plain http. */
  server: string
  token: string | null
  /** How many different items there are. */
  ids: number
  /** What every item begins with; of the topic only events of such items are counted. */
  itemsPrefix: string
  /** Requests a second, whatever the answers (open loop); null: a connection sends when it was answered. */
  rate: number | null
  /** Due times are uniform from now to this far ahead; 0: all are due now. */
  windowMs: number
  connections: number
  durationMs: number
  /** Reads the topic of the ticks, too. */
  follow: boolean
}

export interface GeneratorSurroundings {
  onSecond?: (second: Second) => void
  /** Ends the load early; the report is of what was done. */
  signal?: AbortSignal
  clock?: Clock
}

export interface GeneratorReport {
  durationMs: number
  totals: Totals
  /** Requests that were sent and never answered. */
  unanswered: number
  /** With a rate: requests that were due and not sent, as no connection was free. */
  behind: number
  rates: Record<'generated' | 'scheduled' | 'consumed', Spread | null>
  latenessMs: Quantiles
  answerMs: Quantiles
  /** Answers by status, and lost connections by reason. */
  answers: Record<string, number>
  seconds: Second[]
}

const TOPIC = 'ticks'
const SECOND_MS = 1000
/** What is left at the end has a line of its own from this length on; the rates of a few ms say nothing. */
const SHORTEST_LINE_MS = 500
/** How often the open loop looks at what it owes. */
const PACE_MS = 1
/** An answer other than 202 pauses its connection, so that a server in trouble is not called in a tight loop. */
const PAUSE_MS = 100
/** How long the end waits for answers under way. */
const ANSWERS_WITHIN_MS = 5000
/** The most requests of one connection that wait for their answers, at a given rate. */
const MOST_BEHIND = 16
/** How long the start waits for the first connection, and for the topic to be followed. */
const CONNECT_WITHIN_MS = 5000

/** Runs the load to its end and reports it. */
export async function runGenerator(
  options: GeneratorOptions,
  surroundings: GeneratorSurroundings = {},
): Promise<GeneratorReport> {
  const run = new GeneratorRun(options, surroundings)
  try {
    await run.connect()
    await run.load()
    return run.report()
  } finally {
    run.close()
  }
}

class GeneratorRun {
  readonly #options: GeneratorOptions
  readonly #clock: Clock
  readonly #onSecond: (second: Second) => void
  readonly #stop: AbortSignal
  readonly #closed = new AbortController()
  readonly #tally = new Tally()
  readonly #seconds: Second[] = []
  readonly #connections: Connection[]
  readonly #consumer: Consumer | null
  readonly #write: (id: number, atMs: number) => string
  readonly #random: Random
  readonly #firstConnected = Promise.withResolvers<void>()
  /** Connections that may carry a request; all of them, at most. */
  readonly #free = new Set<Connection>()
  readonly #timers = new Set<Timer>()
  #sending = false
  #startedAt = 0
  #endedAt = 0
  #lineAt = 0
  #lineCount = 0
  #lastReason = 'no answer'

  constructor(options: GeneratorOptions, surroundings: GeneratorSurroundings) {
    this.#options = options
    this.#clock = surroundings.clock ?? systemClock
    this.#onSecond = surroundings.onSecond ?? (() => undefined)
    this.#stop = surroundings.signal ?? new AbortController().signal
    this.#random = createRandom(Math.floor(this.#clock.random() * 2 ** 32))
    const { host, hostname, port } = addressOf(options.server)
    this.#write = createRequestWriter({ ...options, host })
    const place = { host: hostname, port, clock: this.#clock }
    const events = {
      connected: (connection: Connection) => this.#connected(connection),
      answered: this.#answered.bind(this),
      lost: (connection: Connection, reason: string) => {
        this.#free.delete(connection)
        this.#lost(reason)
      },
    }
    this.#connections = Array.from(
      { length: options.connections },
      () => new Connection({ ...place, events }),
    )
    this.#consumer = options.follow
      ? new Consumer({
          ...place,
          hostHeader: host,
          token: options.token,
          topic: TOPIC,
          keyPrefix: options.itemsPrefix,
          event: (lateMs) => this.#tally.consumed(lateMs),
          lost: (reason) => this.#lost(reason),
        })
      : null
  }

  /** Opens everything; resolves when the topic is followed and a first connection is ready. */
  async connect(): Promise<void> {
    this.#consumer?.open()
    for (const connection of this.#connections) connection.open()
    const ready = Promise.all([this.#consumer?.following, this.#firstConnected.promise]).then(() => true)
    const given = AbortSignal.any([this.#stop, this.#closed.signal])
    const late = this.#clock.sleep(CONNECT_WITHIN_MS, given).then(() => this.#stop.aborted)
    if (await Promise.race([ready, late])) return
    throw new HeadraceError(
      'server_unreachable',
      `cannot load ${maskAddress(this.#options.server)}: ${this.#lastReason}`,
      {
        remedy: 'start a server with: headrace serve',
      },
    )
  }

  /** Sends until the duration is over or the signal fires, then waits for the answers under way. */
  async load(): Promise<void> {
    this.#startedAt = this.#clock.mono()
    this.#lineAt = this.#startedAt
    this.#sending = true
    this.#scheduleLine()
    if (this.#options.rate === null) for (const connection of this.#free) this.#send(connection)
    else this.#pace(this.#options.rate)
    await this.#clock.sleep(this.#options.durationMs, this.#stop)
    this.#sending = false
    this.#endedAt = this.#clock.mono()
    const latest = this.#endedAt + ANSWERS_WITHIN_MS
    while (this.#unanswered() > 0 && this.#clock.mono() < latest) await this.#clock.sleep(PACE_MS)
    if (this.#seconds.length === 0 || this.#clock.mono() - this.#lineAt >= SHORTEST_LINE_MS) this.#line()
  }

  report(): GeneratorReport {
    const owed = this.#options.rate === null ? 0 : this.#owed(this.#options.rate)
    const seconds = this.#seconds
    return {
      durationMs: Math.round(this.#endedAt - this.#startedAt),
      totals: this.#tally.totals,
      unanswered: this.#unanswered(),
      behind: Math.max(0, owed),
      rates: {
        generated: spreadOf(seconds, 'generated'),
        scheduled: spreadOf(seconds, 'scheduled'),
        consumed: spreadOf(seconds, 'consumed'),
      },
      latenessMs: this.#tally.lateness,
      answerMs: this.#tally.answerTime,
      answers: Object.fromEntries(this.#tally.answers),
      seconds,
    }
  }

  close(): void {
    this.#sending = false
    this.#closed.abort()
    for (const timer of this.#timers) timer.cancel()
    for (const connection of this.#connections) connection.close()
    this.#consumer?.close()
  }

  #connected(connection: Connection): void {
    this.#firstConnected.resolve()
    this.#next(connection)
  }

  #answered(connection: Connection, status: number, tookMs: number): void {
    this.#tally.answered(status, tookMs)
    if (connection.underWay > 0) return
    if (status === 202) this.#next(connection)
    else
      this.#after(PAUSE_MS, () => connection.connected && connection.underWay === 0 && this.#next(connection))
  }

  #lost(reason: string): void {
    this.#lastReason = reason
    if (this.#sending) this.#tally.lost(reason)
  }

  #next(connection: Connection): void {
    const { rate } = this.#options
    // What is owed goes at once: with few connections the next look would be late.
    if (this.#sending && (rate === null || this.#owed(rate) > 0)) this.#send(connection)
    else this.#free.add(connection)
  }

  #send(connection: Connection): void {
    const { ids, windowMs } = this.#options
    const id = this.#random.below(ids)
    const aheadMs = windowMs === 0 ? 0 : this.#random.below(windowMs)
    this.#tally.sent()
    connection.send(this.#write(id, this.#clock.now() + aheadMs))
  }

  /** The open loop: sends what is owed by now, on free connections first, and looks again. */
  #pace(rate: number): void {
    if (!this.#sending) return
    let owed = this.#owed(rate)
    for (const connection of this.#free) {
      if (owed <= 0) break
      owed -= 1
      this.#free.delete(connection)
      this.#send(connection)
    }
    // What is still owed waits for no answer: it goes behind other requests.
    for (const connection of this.#connections) {
      if (owed <= 0) break
      if (connection.underWay === 0 || connection.underWay >= MOST_BEHIND) continue
      owed -= 1
      this.#send(connection)
    }
    this.#after(PACE_MS, () => this.#pace(rate))
  }

  #owed(rate: number): number {
    const until = this.#sending ? this.#clock.mono() : this.#endedAt
    const elapsedMs = Math.min(until - this.#startedAt, this.#options.durationMs)
    return Math.floor((elapsedMs * rate) / 1000) - this.#tally.totals.generated
  }

  #unanswered(): number {
    return this.#connections.reduce((sum, connection) => sum + connection.underWay, 0)
  }

  #scheduleLine(): void {
    this.#lineCount += 1
    const dueAt = this.#startedAt + this.#lineCount * SECOND_MS
    this.#after(Math.max(0, dueAt - this.#clock.mono()), () => {
      this.#line()
      this.#scheduleLine()
    })
  }

  #line(): void {
    const now = this.#clock.mono()
    const second = this.#tally.second({ endMs: now - this.#startedAt, elapsedMs: now - this.#lineAt })
    this.#lineAt = now
    this.#seconds.push(second)
    this.#onSecond(second)
  }

  #after(delayMs: number, call: () => unknown): void {
    const timer = this.#clock.timer(delayMs, () => {
      this.#timers.delete(timer)
      call()
    })
    this.#timers.add(timer)
  }
}

function addressOf(server: string): { host: string; hostname: string; port: number } {
  const url = URL.parse(server)
  if (url === null || url.protocol !== 'http:') {
    throw new HeadraceError(
      'invalid_options',
      `the server ${JSON.stringify(maskAddress(server))} is no http address`,
      {
        remedy: 'write it as http://127.0.0.1:7400; the generator speaks plain http only',
      },
    )
  }
  return {
    host: url.host,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 80 : Number(url.port),
  }
}
