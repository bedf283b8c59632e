// Exported as `headrace/otel`: spans of OpenTelemetry for the life of keys, put → taken → run → settled. Listens to
// telemetry; the engine knows nothing of it, and tells of single runs only while somebody listens. Decision 0015.
import type { Clock } from '../clock.ts'
import type { PutFacts, RunFacts, Telemetry, TelemetryPayload } from '../telemetry.ts'
import { VERSION } from '../version.ts'
import {
  type Attributes,
  CONSUMER,
  INTERNAL,
  type OtelApi,
  type OtelSpan,
  type OtelSpanContext,
  type OtelTracer,
  PRODUCER,
  SAMPLED,
  STATUS_ERROR,
} from './api.ts'
import { isSampled, lifeIds } from './trace-id.ts'

export type { OtelApi } from './api.ts'
export { type LifeIds, type LifeName, lifeIds } from './trace-id.ts'

/** What is listened to: a `headrace()`. */
export interface Traced {
  readonly telemetry: Telemetry
  readonly clock: Clock
}

export interface TraceOptions {
  /** The share of traces that are kept, from 0 to 1; all unless said. Every process keeps the same ones. */
  share?: number
  /**
   * `key`, unless said: all that happens to a key is one trace. `run`: every run is a trace of its own, linked to that of
   * its key; for keys that run again and again.
   */
  per?: 'key' | 'run'
}

export interface Tracing {
  /** A handler whose own spans stand within that of its run. */
  handler<Run extends { key: string }, Rest extends unknown[], Answer>(
    inner: (run: Run, ...rest: Rest) => Answer,
  ): (run: Run, ...rest: Rest) => Answer
  stop(): void
}

/** A run that is under way: its open span, of which the next is a child. */
interface Life<Context> {
  context: Context
  open: OtelSpan | null
}

/** Runs that are followed at once; the oldest is given up for one more. */
const MOST_LIVES = 100_000

/** Makes spans of what a member does, with the `@opentelemetry/api` of the program, until it is stopped. */
export function traceWork<Context>(race: Traced, api: OtelApi<Context>, options: TraceOptions = {}): Tracing {
  const tracer = new Tracer(race, api, options)
  return { handler: (inner) => tracer.handler(inner), stop: () => tracer.stop() }
}

class Tracer<Context> {
  readonly #clock: Clock
  readonly #api: OtelApi<Context>
  readonly #tracer: OtelTracer<Context>
  readonly #share: number
  readonly #per: 'key' | 'run'
  /** By pool and key: a member has one run of a key under way. */
  readonly #lives = new Map<string, Life<Context>>()
  /** The run whose handler is about to be called. */
  #starting: { key: string; context: Context } | null = null
  readonly #stops: (() => void)[]

  constructor({ telemetry, clock }: Traced, api: OtelApi<Context>, { share = 1, per = 'key' }: TraceOptions) {
    this.#clock = clock
    this.#api = api
    this.#tracer = api.trace.getTracer('headrace', VERSION)
    this.#share = share
    this.#per = per
    this.#stops = [
      telemetry.on('put.answered', (told) => told.puts.forEach((put) => this.#put(told, put))),
      telemetry.on('run.taken', (told) => this.#taken(told)),
      telemetry.on('run.started', (told) => this.#started(told)),
      telemetry.on('run.failed', ({ pool, key, error }) => this.#failed(nameOf(pool, key), error)),
      telemetry.on('run.ended', (told) => this.#ended(told)),
      telemetry.on('run.settled', (told) => this.#settled(told)),
    ]
  }

  stop(): void {
    for (const stop of this.#stops) stop()
    this.#lives.clear()
  }

  handler<Run extends { key: string }, Rest extends unknown[], Answer>(
    inner: (run: Run, ...rest: Rest) => Answer,
  ): (run: Run, ...rest: Rest) => Answer {
    return (run, ...rest) => {
      const starting = this.#starting
      this.#starting = null
      if (starting === null || starting.key !== run.key) return inner(run, ...rest)
      return this.#api.context.with(starting.context, () => inner(run, ...rest))
    }
  }

  #put({ pool, tookMs }: TelemetryPayload<'put.answered'>, { key, slot, result, tally }: PutFacts): void {
    const life = contextOf(lifeIds({ pool, key, slot }))
    if (!isSampled(life.traceId, this.#share)) return
    const now = this.#clock.now()
    const attributes = { ...about(pool, key), 'headrace.put.result': result, 'headrace.tally': tally }
    this.#start('put', PRODUCER, { context: this.#within(life), attributes, startedAt: now - tookMs }).end(
      new Date(now),
    )
  }

  /** From due to taken. */
  #taken({ pool, lane, run, latenessMs }: TelemetryPayload<'run.taken'>): void {
    const { life, links } = this.#lifeOf(pool, run)
    if (!isSampled(life.traceId, this.#share)) return
    const now = this.#clock.now()
    const attributes = {
      ...about(pool, run.key),
      'headrace.lane': lane,
      'headrace.tally': run.seen,
      'headrace.attempt': run.attempt + 1,
      'headrace.partition': run.partition,
    }
    const startedAt = now - latenessMs
    const span = this.#start('taken', INTERNAL, { context: this.#within(life), attributes, startedAt, links })
    span.end(new Date(now))
    if (this.#lives.size >= MOST_LIVES) this.#forgetOldest()
    this.#lives.set(nameOf(pool, run.key), { context: this.#within(span.spanContext()), open: null })
  }

  #started({ pool, run }: TelemetryPayload<'run.started'>): void {
    const life = this.#lives.get(nameOf(pool, run.key))
    if (life === undefined) return
    const attributes = { ...about(pool, run.key), 'headrace.attempt': run.attempt + 1 }
    const startedAt = this.#clock.now()
    life.open = this.#start('run', CONSUMER, { context: life.context, attributes, startedAt })
    life.context = this.#within(life.open.spanContext())
    this.#starting = { key: run.key, context: life.context }
  }

  #failed(name: string, error: unknown): void {
    const exception = error instanceof Error ? error : String(error)
    this.#lives.get(name)?.open?.recordException(exception, new Date(this.#clock.now()))
  }

  #ended({ pool, run, outcome }: TelemetryPayload<'run.ended'>): void {
    const name = nameOf(pool, run.key)
    const life = this.#lives.get(name)
    if (life === undefined) return
    const now = this.#clock.now()
    life.open?.setAttribute('headrace.outcome', outcome ?? 'let-go')
    if (outcome === 'retry' || outcome === 'dead') life.open?.setStatus({ code: STATUS_ERROR })
    life.open?.end(new Date(now))
    if (outcome === null) {
      this.#lives.delete(name)
      return
    }
    const attributes = { ...about(pool, run.key), 'headrace.outcome': outcome }
    life.open = this.#start('settled', INTERNAL, { context: life.context, attributes, startedAt: now })
  }

  #settled({ pool, run, result }: TelemetryPayload<'run.settled'>): void {
    const name = nameOf(pool, run.key)
    const life = this.#lives.get(name)
    life?.open?.setAttribute('headrace.settle.result', result)
    life?.open?.end(new Date(this.#clock.now()))
    this.#lives.delete(name)
  }

  /** The trace that a run is in, and what it is linked to. */
  #lifeOf(pool: string, { key, slot, turn }: RunFacts): { life: OtelSpanContext; links: OtelSpanContext[] } {
    const ofKey = contextOf(lifeIds({ pool, key, slot }))
    if (this.#per === 'key') return { life: ofKey, links: [] }
    return { life: contextOf(lifeIds({ pool, key, slot, turn })), links: [ofKey] }
  }

  #within(parent: OtelSpanContext): Context {
    return this.#api.trace.setSpanContext(this.#api.ROOT_CONTEXT, parent)
  }

  #start(
    step: string,
    kind: number,
    span: { context: Context; attributes: Attributes; startedAt: number; links?: OtelSpanContext[] },
  ): OtelSpan {
    const { context, attributes, startedAt, links = [] } = span
    return this.#tracer.startSpan(
      `headrace ${step}`,
      { kind, startTime: new Date(startedAt), attributes, links: links.map((link) => ({ context: link })) },
      context,
    )
  }

  #forgetOldest(): void {
    for (const [name, { open }] of this.#lives) {
      open?.end(new Date(this.#clock.now()))
      this.#lives.delete(name)
      return
    }
  }
}

function contextOf(ids: { traceId: string; spanId: string }): OtelSpanContext & { isRemote: boolean } {
  return { ...ids, traceFlags: SAMPLED, isRemote: true }
}

function about(pool: string, key: string): Attributes {
  return { 'headrace.pool': pool, 'headrace.key': key }
}

function nameOf(pool: string, key: string): string {
  return `${pool}\0${key}`
}
