// docs/reference/metrics.md: a meter is told of one event of each kind, and asked what it keeps.
import { systemClock } from '../../src/clock.ts'
import { Histogram } from '../../src/meter/histogram.ts'
import { Meter, type Metric } from '../../src/meter/meter.ts'
import type { WorkerSight } from '../../src/pool/work-meter.ts'
import { type TelemetryEvents, type TelemetryName, createTelemetry } from '../../src/telemetry.ts'
import { code, page, table } from './markdown.ts'

const run = { key: 'k', slot: null, partition: 0, turn: 1, dueAt: 0, seen: 1, attempt: 0 }
const NO_LIMIT = { concurrency: null, rate: null }

/** One of each; the type demands an entry for a new event. */
const samples: TelemetryEvents = {
  'pool.put': { pool: 'p', created: 1, merged: 1, replaced: 1, kept: 1 },
  'put.asked': { pool: 'p', key: 'k', slot: null, traceparent: null },
  'put.answered': { pool: 'p', puts: [], tookMs: 1 },
  'pool.payload-replaced': { pool: 'p', key: 'k' },
  'pool.changed': { pool: 'p', cancelled: 1, rescheduled: 1 },
  'pool.paused': { pool: 'p', by: null, reason: null, until: null },
  'pool.resumed': { pool: 'p' },
  'pool.limited': { pool: 'p', limits: { group: NO_LIMIT, pool: NO_LIMIT } },
  'control.lost': { pool: 'p', by: 'share' },
  'ticks.moved': { pool: 'p', topic: 't', latenessMs: [1], tookMs: 1 },
  'ticks.failed': { pool: 'p', error: null, retryInMs: 1 },
  'work.settled': {
    pool: 'p',
    settled: 5,
    gone: 1,
    refused: 1,
    ends: { done: 1, again: 1, retried: 1, dead: 1, cancelled: 1 },
    tookMs: 1,
  },
  'work.failed': { pool: 'p', error: null, retryInMs: 1 },
  'work.held': { pool: 'p', why: 'paused' },
  'run.taken': { pool: 'p', lane: 'normal', run, latenessMs: 1 },
  'run.started': { pool: 'p', lane: 'normal', run },
  'run.ended': { pool: 'p', lane: 'normal', run, runMs: 1, outcome: 'done' },
  'run.settled': { pool: 'p', lane: 'normal', run, result: 'settled' },
  'run.failed': {
    pool: 'p',
    key: 'k',
    attempt: 1,
    error: null,
    isDead: false,
    reason: null,
    retryInMs: null,
  },
  'run.logged': { pool: 'p', key: 'k', attempt: 1, message: 'm', details: null },
  'run.unsettled': { pool: 'p', key: 'k', outcome: 'done', error: null, isDead: true },
  'run.ignored': { pool: 'p', key: 'k', why: 'stop' },
  'dead.purged': { pool: 'p', deaths: 1 },
  'log.appended': { topic: 't', events: 1 },
  'log.trimmed': { topic: 't', events: 1 },
  'store.migrated': { from: 0, to: 1 },
  'store.called': { operation: 'commit', tookMs: 1 },
  'store.waited': { waits: 1 },
  'store.repeated': { operation: 'commit' },
  'arrivals.refused': { resource: 'pool/work', arrivals: 1, key: 'k' },
  'store.folded': { pool: 'p', entries: 1 },
  'store.failed': { error: null },
  'store.went-back': { from: '', to: '' },
  'store.lost': { error: null },
  'store.silent': { forMs: 1, error: null },
  'store.answered': { afterMs: 1 },
  'roster.joined': { id: 'm' },
  'roster.lost': { id: 'm' },
  'roster.doubted': { id: 'm' },
  'roster.trusted': { id: 'm' },
  'roster.left': { id: 'm' },
  'roster.leading': { term: 1 },
  'roster.decided': { kind: 'decided', dead: 1, changes: 1 },
  'roster.raised': { resource: 'r', raised: 1, refused: 1 },
  'roster.held': { resource: 'r', partitions: 1 },
  'roster.granted': { resource: 'r', partitions: 1 },
  'roster.failed': { error: null },
  'listener.failed': { error: null },
  'signals.missing': { pools: ['p'] },
  'fence.refused': { resource: 'r', partitions: 1 },
  'http.answered': { route: '/ticks', method: 'POST', status: 202, tookMs: 1 },
  'http.unserved': { route: '/ticks', method: 'POST', error: null },
  'http.unauthorized': { why: 'wrong', from: null },
  'http.failed': { route: '/ticks', method: 'POST', error: null },
}

/** A worker that has nothing to do. */
const idle: WorkerSight = {
  concurrency: 1,
  running: 0,
  inFlight: 0,
  mayTake: true,
  isFailing: false,
  isBehind: false,
  isSteered: true,
  paused: null,
  reached: null,
  alone: null,
  heardDueAt: null,
  holds: () => true,
  now: () => 0,
  backlog: () => [],
  heldBack: () => null,
  sight: () => null,
}

export function writeMetricsPage(): string {
  const rows = meteredSamples()
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => [code(metric.name), metric.kind, labelsOf(metric), metric.help])
  return page(
    'Metrics',
    '`src/meter/meter.ts`',
    '`GET /metrics` answers them in the text format of Prometheus, `GET /v1/metrics` as JSON, there with the ' +
      'count, sum, largest value and quantiles of each histogram in milliseconds. In the library: ' +
      '`race.meter.metrics()`. Counters begin at 0 when a process starts, and a series appears with its first ' +
      'event. What to watch: [operating/metrics.md](../operating/metrics.md).',
    table(['metric', 'kind', 'labels', 'is'], rows),
  )
}

function meteredSamples(): Metric[] {
  const telemetry = createTelemetry(systemClock.id())
  const meter = new Meter(telemetry, systemClock)
  meter.listen()
  for (const name of Object.keys(samples) as TelemetryName[]) telemetry.emit(name, samples[name])
  meter.work('p', idle).taken('normal', 1, 1)
  meter.close()
  return meter.metrics()
}

function labelsOf({ series }: Metric): string {
  const [first] = series
  const names = Object.keys(first?.labels ?? {})
  if (first?.value instanceof Histogram) names.push('le')
  return names.map(code).join(', ')
}
