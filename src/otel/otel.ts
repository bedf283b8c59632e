// Exported as `headrace/otel`: spans of OpenTelemetry for the life of keys, put → taken → run → settled. Listens to
// telemetry; the engine knows nothing of it, and tells of single runs only while somebody listens. Decision 0015.
import '../check-floor.ts'
import { checkOptions, optionTable, refuseSurplus } from '../check-options.ts'
import { describe } from '../check.ts'
import type { Clock } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
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

/** Options of `traceWork`. */
export interface TraceOptions {
  /** The share of traces that are kept, from 0 to 1; default 1. Every process keeps the same ones. */
  share?: number
  /**
   * `key`, the default: all that happens to a key is one trace. `run`: every run is a trace of its own, linked to that of
   * its key; for keys that run again and again.
   */
  per?: 'key' | 'run'
}

const TRACE = optionTable<TraceOptions>('traceWork', { share: null, per: ['key', 'run'] })

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

/** Who asked for a run. */
interface Caller {
  context: OtelSpanContext
  /** Its put has a span. */
  isAnswered: boolean
}

/** Runs that are followed at once; the oldest is given up for one more. */
const MOST_LIVES = 100_000

/** Of those who asked for a run that is not made yet: so many keys, and so many for each. */
const MOST_ASKED = 10_000
const MOST_CALLERS = 16

/** Makes spans of what a member does, with the `@opentelemetry/api` of the program, until it is stopped. */
export function traceWork<Context>(race: Traced, api: OtelApi<Context>, options: TraceOptions = {}): Tracing {
  refuseSurplus(arguments.length, { form: 'traceWork(race, api, options)', takes: 3 })
  checkOptions(options, TRACE)
  checkShare(options.share)
  const tracer = new Tracer(race, api, options)
  return { handler: (inner) => tracer.handler(inner), stop: () => tracer.stop() }
}

function checkShare(share: unknown = 1): void {
  if (typeof share === 'number' && share >= 0 && share <= 1) return
  throw new HeadraceError('invalid_options', `share of traceWork is ${describe(share)}`, {
    remedy: 'give a number from 0 to 1, such as 0.1 for every tenth trace',
  })
}

class Tracer<Context> {
  readonly #clock: Clock
  readonly #api: OtelApi<Context>
  readonly #tracer: OtelTracer<Context>
  readonly #share: number
  readonly #per: 'key' | 'run'
  /** By pool and key: a member has one run of a key under way. */
  readonly #lives = new Map<string, Life<Context>>()
  /** By pool, key and slot: who asked for the next run, as far as it was asked for here. */
  readonly #callers = new Map<string, Caller[]>()
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
      telemetry.on('put.asked', (put) => this.#asked(put)),
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
    this.#callers.clear()
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

  /** Called where the put is: the active span is that of its caller. [I12] */
  #asked({ pool, key, slot, traceparent }: TelemetryPayload<'put.asked'>): void {
    const caller =
      traceparent === null ? this.#api.trace.getActiveSpan?.()?.spanContext() : readParent(traceparent)
    if (caller === undefined) return
    const name = callersName(pool, key, slot)
    const known = this.#callers.get(name) ?? []
    if (known.length < MOST_CALLERS) known.push({ context: caller, isAnswered: false })
    const [oldest] = this.#callers.keys()
    if (this.#callers.size >= MOST_ASKED && oldest !== undefined) this.#callers.delete(oldest)
    this.#callers.set(name, known)
  }

  #put({ pool, tookMs }: TelemetryPayload<'put.answered'>, { key, slot, result, tally }: PutFacts): void {
    const life = contextOf(lifeIds({ pool, key, slot }))
    if (!isSampled(life.traceId, this.#share)) return
    const now = this.#clock.now()
    const attributes = { ...about(pool, key), 'headrace.put.result': result, 'headrace.tally': tally }
    const caller = this.#callers.get(callersName(pool, key, slot))?.find(({ isAnswered }) => !isAnswered)
    if (caller !== undefined) caller.isAnswered = true
    const links = caller === undefined ? [] : [caller.context]
    const startedAt = now - tookMs
    const span = this.#start('put', PRODUCER, { context: this.#within(life), attributes, startedAt, links })
    span.end(new Date(now))
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
    const name = callersName(pool, run.key, run.slot)
    const links = (this.#callers.get(name) ?? []).map(({ context }) => context)
    this.#callers.delete(name)
    life.open = this.#start('run', CONSUMER, { context: life.context, attributes, startedAt, links })
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

function callersName(pool: string, key: string, slot: number | null): string {
  return `${pool}\0${key}\0${slot ?? ''}`
}

/** It was checked by the put. */
function readParent(traceparent: string): OtelSpanContext & { isRemote: boolean } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function nameOf(pool: string, key: string): string {
  return `${pool}\0${key}`
}
