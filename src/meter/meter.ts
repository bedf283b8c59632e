// Listens to one member's telemetry and keeps its numbers. What is told of single runs comes from the workers themselves,
// which have a meter for each pool. Nothing here is read back by the engine.
import type { Clock } from '../clock.ts'
import type { Telemetry } from '../telemetry.ts'
import type { TicksSight, WorkerSight } from '../pool/work-meter.ts'
import { poolOf } from '../fence.ts'
import { Collisions } from './collisions.ts'
import { Histogram } from './histogram.ts'
import { Lately } from './lately.ts'
import type { Labels, Metric } from './metric.ts'
import { PoolMeter } from './pool-meter.ts'
import { workMetrics } from './work-metrics.ts'

export type { Labels, Metric } from './metric.ts'

const HELP = {
  headrace_puts_total: 'Puts answered, by pool and result.',
  headrace_cancelled_total: 'Entries cancelled by callers, by pool.',
  headrace_rescheduled_total: 'Entries rescheduled by callers, by pool.',
  headrace_ticks_moved_total: 'Due ticks moved to their topic.',
  headrace_tick_failures_total: 'Failed attempts to move due ticks.',
  headrace_appended_total: 'Events appended by callers, by topic.',
  headrace_trimmed_total: 'Events removed by retention, by topic.',
  headrace_store_calls_total: 'Calls of the store, by operation.',
  headrace_store_waits_total: 'Times a write waited for another process.',
  headrace_store_repeats_total: 'Calls made again because another transaction came between, by operation.',
  headrace_folded_total: 'Entries moved from the journal into the table.',
  headrace_fence_refusals_total:
    'Partitions that a write was refused for, being those of another member by then.',
  headrace_roster_raises_total:
    'Fences raised for partitions that this member was given, by resource and result.',
  headrace_roster_moves_total: 'Partitions that this member handed over to the next owner, by resource.',
  headrace_roster_changes_total: 'Allotments that this member changed as the leader.',
  headrace_roster_deaths_total: 'Members that this member declared dead as the leader.',
  headrace_roster_lost_total: 'Times that this member was declared dead, and joined again.',
  headrace_roster_failures_total: 'Failed steps in the roster, each tried again.',
  headrace_http_requests_total: 'Requests answered, by route, method and status.',
  headrace_http_unauthorized_total: 'Requests refused without the token or with a wrong one, by reason.',
} as const

const HISTOGRAM_HELP = {
  headrace_tick_lateness_seconds: 'From due to the event of a tick, by the clock of the store.',
  headrace_tick_move_seconds: 'Duration of one move of due ticks.',
  headrace_store_call_seconds: 'Duration of store calls, by operation.',
  headrace_http_request_seconds: 'Duration of requests, by route.',
} as const

const GAUGE_HELP = {
  headrace_roster_leading: '1 if this member leads, as of its last answered pulse.',
  headrace_roster_partitions_held: 'Partitions that this member holds, by resource.',
} as const

type GaugeName = keyof typeof GAUGE_HELP
type CounterName = keyof typeof HELP
type HistogramName = keyof typeof HISTOGRAM_HELP

/** The series of one kind of answer to requests. */
interface Answers {
  method: string
  status: number
  requests: { value: number }
  seconds: Histogram
}

export class Meter {
  /** How long calls of the store took lately, and how late ticks were. */
  readonly lately: { store: Lately; ticks: Lately }
  /** Those that are of no single run. */
  readonly collisions: Collisions
  readonly #telemetry: Telemetry
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #counters = new Map<CounterName, Map<string, { labels: Labels; value: number }>>()
  readonly #histograms = new Map<HistogramName, Map<string, { labels: Labels; value: Histogram }>>()
  readonly #gauges = new Map<GaugeName, Map<string, { labels: Labels; value: number }>>()
  readonly #pools = new Map<string, PoolMeter>()
  readonly #ticks = new Map<string, () => TicksSight>()
  /** By route. */
  readonly #answers = new Map<string, Answers[]>()
  #stops: (() => void)[] = []

  constructor(telemetry: Telemetry, clock: Clock) {
    this.#telemetry = telemetry
    this.#clock = clock
    this.#startedAt = clock.mono()
    this.collisions = new Collisions(clock)
    this.lately = { store: new Lately(clock), ticks: new Lately(clock) }
  }

  /** Begins to count; harmless when it counts already. */
  listen(): void {
    if (this.#stops.length === 0) this.#stops = this.#subscribe()
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  /** The meter of a pool that this member works on, which tells it of every run. */
  work(pool: string, worker: WorkerSight): PoolMeter {
    const whole = this.collisions.ofPool(pool)
    const meter = new PoolMeter({ pool, worker, clock: this.#clock, whole })
    this.#pools.set(pool, meter)
    return meter
  }

  /** The pools that this member works on. */
  pools(): PoolMeter[] {
    return [...this.#pools.values()]
  }

  watchTicks(pool: string, look: () => TicksSight): void {
    this.#ticks.set(pool, look)
  }

  /** The pools of ticks that this member moves. */
  ticks(): { pool: string; sight: TicksSight }[] {
    return [...this.#ticks].map(([pool, look]) => ({ pool, sight: look() }))
  }

  /** Every metric with its series, as they are now. */
  metrics(): Metric[] {
    const metrics: Metric[] = []
    for (const [name, series] of this.#counters) {
      metrics.push({ name, help: HELP[name], kind: 'counter', series: [...series.values()] })
    }
    for (const [name, series] of this.#histograms) {
      metrics.push({ name, help: HISTOGRAM_HELP[name], kind: 'histogram', series: [...series.values()] })
    }
    for (const [name, series] of this.#gauges) {
      metrics.push({ name, help: GAUGE_HELP[name], kind: 'gauge', series: [...series.values()] })
    }
    metrics.push(...workMetrics(this.pools(), this.ticks(), this.collisions))
    const uptime = (this.#clock.mono() - this.#startedAt) / 1000
    metrics.push(gauge('headrace_uptime_seconds', 'Time since this member began.', uptime))
    return metrics
  }

  #subscribe(): (() => void)[] {
    const telemetry = this.#telemetry
    return [
      telemetry.on('pool.put', ({ pool, created, merged, replaced, kept }) => {
        const results = Object.entries({ created, merged, replaced, kept })
        for (const [result, count] of results) this.#count('headrace_puts_total', { pool, result }, count)
      }),
      telemetry.on('pool.changed', ({ pool, cancelled, rescheduled }) => {
        this.#count('headrace_cancelled_total', { pool }, cancelled)
        this.#count('headrace_rescheduled_total', { pool }, rescheduled)
      }),
      telemetry.on('ticks.moved', ({ pool, topic, latenessMs, tookMs }) => {
        this.#count('headrace_ticks_moved_total', { pool, topic }, latenessMs.length)
        const lateness = this.#histogram('headrace_tick_lateness_seconds', { pool })
        for (const ms of latenessMs) {
          lateness.record(ms)
          this.lately.ticks.record(ms)
        }
        this.#histogram('headrace_tick_move_seconds', { pool }).record(tookMs)
      }),
      telemetry.on('ticks.failed', ({ pool }) => this.#count('headrace_tick_failures_total', { pool }, 1)),
      telemetry.on('log.appended', ({ topic, events }) =>
        this.#count('headrace_appended_total', { topic }, events),
      ),
      telemetry.on('log.trimmed', ({ topic, events }) =>
        this.#count('headrace_trimmed_total', { topic }, events),
      ),
      telemetry.on('store.called', ({ operation, tookMs }) => {
        this.#count('headrace_store_calls_total', { operation }, 1)
        this.#histogram('headrace_store_call_seconds', { operation }).record(tookMs)
        this.lately.store.record(tookMs)
      }),
      telemetry.on('store.waited', ({ waits }) => this.#count('headrace_store_waits_total', {}, waits)),
      telemetry.on('store.repeated', ({ operation }) => {
        this.#count('headrace_store_repeats_total', { operation }, 1)
        this.collisions.count('repeated', 1)
      }),
      telemetry.on('control.lost', ({ pool }) => this.collisions.count('control', 1, pool)),
      telemetry.on('store.folded', ({ pool, entries }) =>
        this.#count('headrace_folded_total', { pool }, entries),
      ),
      ...this.#subscribeRoster(),
      telemetry.on('http.answered', ({ route, method, status, tookMs }) => {
        const series = this.#answersOf(route, method, status)
        series.requests.value += 1
        series.seconds.record(tookMs)
      }),
      telemetry.on('http.unauthorized', ({ why }) =>
        this.#count('headrace_http_unauthorized_total', { why }, 1),
      ),
    ]
  }

  #subscribeRoster(): (() => void)[] {
    const telemetry = this.#telemetry
    const leadNoMore = (): void => this.#set('headrace_roster_leading', {}, 0)
    return [
      telemetry.on('roster.joined', leadNoMore),
      telemetry.on('roster.left', leadNoMore),
      telemetry.on('roster.lost', () => {
        leadNoMore()
        this.#count('headrace_roster_lost_total', {}, 1)
      }),
      telemetry.on('roster.leading', ({ term }) =>
        this.#set('headrace_roster_leading', {}, term === null ? 0 : 1),
      ),
      telemetry.on('roster.held', ({ resource, partitions }) =>
        this.#set('headrace_roster_partitions_held', { resource }, partitions),
      ),
      telemetry.on('roster.decided', ({ kind, dead, changes }) => {
        if (kind === 'not-leader' || kind === 'alive') this.collisions.count('roster', 1)
        this.#count('headrace_roster_deaths_total', {}, dead)
        this.#count('headrace_roster_changes_total', {}, changes)
      }),
      telemetry.on('roster.raised', ({ resource, raised, refused }) => {
        this.#count('headrace_roster_raises_total', { resource, result: 'raised' }, raised)
        this.#count('headrace_roster_raises_total', { resource, result: 'refused' }, refused)
        this.collisions.count('roster', refused)
      }),
      telemetry.on('roster.granted', ({ resource, partitions }) =>
        this.#count('headrace_roster_moves_total', { resource }, partitions),
      ),
      telemetry.on('roster.failed', () => this.#count('headrace_roster_failures_total', {}, 1)),
      telemetry.on('fence.refused', ({ resource, partitions, runs }) => {
        this.#count('headrace_fence_refusals_total', { resource }, partitions)
        // Its worker has told of each run by itself.
        if (runs === undefined) this.collisions.count('fenced', partitions, poolOf(resource))
      }),
    ]
  }

  #set(name: GaugeName, labels: Labels, value: number): void {
    seriesOf(this.#gauges, name, labels, () => ({ labels, value })).value = value
  }

  /** Kept by what the event brings: to write out the labels of every request costs as much as all else here. */
  #answersOf(route: string, method: string, status: number): Answers {
    let known = this.#answers.get(route)
    if (known === undefined) this.#answers.set(route, (known = []))
    let answers = known.find((each) => each.status === status && each.method === method)
    if (answers === undefined) {
      const requests = this.#counter('headrace_http_requests_total', {
        route,
        method,
        status: String(status),
      })
      const seconds = this.#histogram('headrace_http_request_seconds', { route })
      known.push((answers = { method, status, requests, seconds }))
    }
    return answers
  }

  #count(name: CounterName, labels: Labels, by: number): void {
    this.#counter(name, labels).value += by
  }

  #counter(name: CounterName, labels: Labels): { value: number } {
    return seriesOf(this.#counters, name, labels, () => ({ labels, value: 0 }))
  }

  #histogram(name: HistogramName, labels: Labels): Histogram {
    return seriesOf(this.#histograms, name, labels, () => ({ labels, value: new Histogram() })).value
  }
}

function seriesOf<Name, Series>(
  metrics: Map<Name, Map<string, Series>>,
  name: Name,
  labels: Labels,
  create: () => Series,
): Series {
  let all = metrics.get(name)
  if (all === undefined) metrics.set(name, (all = new Map()))
  const id = Object.values(labels).join('\0')
  let series = all.get(id)
  if (series === undefined) all.set(id, (series = create()))
  return series
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, kind: 'gauge', series: [{ labels: {}, value }] }
}
