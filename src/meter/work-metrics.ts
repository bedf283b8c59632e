// The work of pools as metrics, for Prometheus and `race.meter.metrics()`. What is not known is left out, and is not 0.
import { LANES } from '../pool/entry.ts'
import type { TicksSight } from '../pool/work-meter.ts'
import { COLLISIONS, type Collisions } from './collisions.ts'
import type { Hdr } from './hdr.ts'
import { BOUNDS_MS, Histogram } from './histogram.ts'
import type { LaneMeter, Step } from './lane-meter.ts'
import type { Labels, Metric } from './metric.ts'
import { type Overdue, overdueOf } from './overdue.ts'
import type { PoolMeter } from './pool-meter.ts'

const HISTOGRAMS: readonly { name: string; help: string; step: Step }[] = [
  {
    name: 'headrace_run_lateness_seconds',
    help: 'From due to taken, by the clock of the store.',
    step: 'lateness',
  },
  {
    name: 'headrace_run_delay_seconds',
    help: 'From the last put of a run to its take, by the clock of the store.',
    step: 'delay',
  },
  { name: 'headrace_run_wait_seconds', help: 'From the take of a run to its start.', step: 'wait' },
  { name: 'headrace_run_seconds', help: 'Duration of handlers.', step: 'run' },
  {
    name: 'headrace_run_settle_seconds',
    help: 'From the end of a handler to the answer of the store.',
    step: 'settle',
  },
]

const COUNTERS: readonly { name: string; help: string; of: (lane: LabelledLane) => Metric['series'] }[] = [
  {
    name: 'headrace_runs_taken_total',
    help: 'Runs taken, by pool and lane.',
    of: ({ labels, meter }) => [{ labels, value: meter.total('taken') }],
  },
  {
    name: 'headrace_runs_ended_total',
    help: 'Handlers that ended, by pool, lane and outcome; `let-go`: the run is due as before.',
    of: endsOf,
  },
  {
    name: 'headrace_runs_asked_total',
    help: 'Puts that finished runs stood for: divided by those finished it tells how much coalesced.',
    of: ({ labels, meter }) => [{ labels, value: meter.total('asked') }],
  },
]

const GAUGES: readonly { name: string; help: string; of: (pool: PoolMeter) => number }[] = [
  { name: 'headrace_running', help: 'Handlers that run now, by pool.', of: ({ worker }) => worker.running },
  {
    name: 'headrace_concurrency',
    help: 'Handlers that may run at once, by pool.',
    of: ({ worker }) => worker.concurrency,
  },
]

const OVERDUE: readonly { name: string; help: string; of: (overdue: Overdue) => number | null }[] = [
  {
    name: 'headrace_overdue',
    help: 'Runs that are due and have not started, by pool and lane, as far as this member knows: there may be more.',
    of: ({ count }) => count,
  },
  {
    name: 'headrace_overdue_oldest_seconds',
    help: 'How long the oldest of these has been due; 0: none is.',
    of: ({ oldestMs }) => (oldestMs === null ? null : oldestMs / 1000),
  },
]

/** A pool that is worked on, or of ticks. */
interface Steered {
  pool: string
  sight: Pick<TicksSight, 'isSteered' | 'paused'>
}

interface LabelledLane {
  labels: Labels
  meter: LaneMeter
}

/** Of lanes of which nothing was ever taken there are no series. */
export function workMetrics(
  pools: readonly PoolMeter[],
  ticks: readonly Steered[],
  collisions: Collisions,
): Metric[] {
  const lanes: LabelledLane[] = pools.flatMap((each) =>
    each
      .lanes()
      .filter(({ meter }) => meter.total('taken') > 0)
      .map(({ lane, meter }) => ({ labels: { pool: each.pool, lane }, meter })),
  )
  const metrics: Metric[] = [
    ...COUNTERS.map(({ name, help, of }): Metric => {
      return { name, help, kind: 'counter', series: lanes.flatMap(of) }
    }),
    ...HISTOGRAMS.map(({ name, help, step }): Metric => {
      const series = lanes.map(({ labels, meter }) => ({ labels, value: histogramOf(meter.totalOf(step)) }))
      return { name, help, kind: 'histogram', series }
    }),
    ...GAUGES.map(({ name, help, of }): Metric => {
      const series = pools.map((pool) => ({ labels: { pool: pool.pool }, value: of(pool) }))
      return { name, help, kind: 'gauge', series }
    }),
    pausedMetric([...pools.map(({ pool, worker }) => ({ pool, sight: worker })), ...ticks]),
    ...overdueMetrics(pools),
    collisionsMetric(lanes, collisions),
  ]
  return metrics.filter(({ series }) => series.length > 0)
}

function pausedMetric(steered: readonly Steered[]): Metric {
  const series = steered.flatMap(({ pool, sight: { isSteered, paused } }) =>
    isSteered ? [{ labels: { pool }, value: Number(paused !== null) }] : [],
  )
  const help = '1 while the pool is paused, as far as this member knows.'
  return { name: 'headrace_paused', help, kind: 'gauge', series }
}

function overdueMetrics(pools: readonly PoolMeter[]): Metric[] {
  const known = pools.map(({ pool, worker }) => ({ pool, overdue: overdueOf(worker) }))
  return OVERDUE.map(({ name, help, of }): Metric => {
    const series = known.flatMap(({ pool, overdue }) => {
      const lanes = LANES.flatMap((lane) => {
        const value = of(overdue.lanes[lane])
        return value === null ? [] : [{ labels: { pool, lane }, value }]
      })
      if (lanes.length > 0) return lanes
      // A pause: a pulse told that something is due, and not in which lane.
      const value = of(overdue.pool)
      return value === null ? [] : [{ labels: { pool }, value }]
    })
    return { name, help, kind: 'gauge', series }
  })
}

/** Where it is not known of which lane, or pool, they are, there is no such label. */
function collisionsMetric(lanes: readonly LabelledLane[], collisions: Collisions): Metric {
  const ofLanes = lanes.flatMap(({ labels, meter }) => {
    return (['lost', 'refused'] as const).map((kind) => ({
      labels: { ...labels, kind },
      value: meter.total(kind),
    }))
  })
  const others = collisions.all().flatMap(({ pool, meter }) => {
    return COLLISIONS.map((kind) => ({
      labels: pool === null ? { kind } : { pool, kind },
      value: meter.total(kind),
    })).filter(({ value }) => value > 0)
  })
  return {
    name: 'headrace_collisions_total',
    help:
      'Writes that another was before. By lane: settles and marks that wrote nothing, the turn being gone (`lost`) or the ' +
      'partition another member’s (`refused`). By pool: other fenced writes that were refused (`fenced`), and lost ' +
      'compare-and-sets on its pause, limits and shares (`control`). Of the member: its writes to the roster (`roster`), ' +
      'and calls made again because another transaction came between (`repeated`).',
    kind: 'counter',
    series: [...ofLanes, ...others],
  }
}

function endsOf({ labels, meter }: LabelledLane): Metric['series'] {
  const [again, dead] = [meter.total('again'), meter.total('dead')]
  const ends = {
    done: meter.total('finished') - again - dead,
    again,
    dead,
    retry: meter.total('retried'),
    cancel: meter.total('cancelled'),
    'let-go': meter.total('letGo'),
  }
  return Object.entries(ends).map(([outcome, value]) => ({ labels: { ...labels, outcome }, value }))
}

/** With the bounds that all histograms have; what shares a bucket with a bound counts as beyond it. */
function histogramOf(fine: Hdr): Histogram {
  const histogram = new Histogram()
  let below = 0
  for (const [place, bound] of BOUNDS_MS.entries()) {
    const upTo = fine.countUpTo(bound)
    histogram.counts[place] = upTo - below
    below = upTo
  }
  histogram.counts[BOUNDS_MS.length] = fine.count - below
  histogram.count = fine.count
  histogram.sum = fine.sumMs
  histogram.max = fine.maxMs
  return histogram
}
