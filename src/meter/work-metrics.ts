// The work of pools as metrics, for Prometheus and `race.meter.metrics()`. What is not known is left out, and is not 0.
import type { Hdr } from './hdr.ts'
import { BOUNDS_MS, Histogram } from './histogram.ts'
import type { LaneMeter, Step } from './lane-meter.ts'
import type { Labels, Metric } from './metric.ts'
import { overdueOf } from './overdue.ts'
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
  {
    name: 'headrace_collisions_total',
    help: 'Settles that wrote nothing: the turn was gone (`lost`), or the partition is another member’s (`refused`).',
    of: ({ labels, meter }) => [
      { labels: { ...labels, kind: 'lost' }, value: meter.total('lost') },
      { labels: { ...labels, kind: 'refused' }, value: meter.total('refused') },
    ],
  },
]

const GAUGES: readonly { name: string; help: string; of: (pool: PoolMeter) => number | null }[] = [
  { name: 'headrace_running', help: 'Handlers that run now, by pool.', of: ({ worker }) => worker.running },
  {
    name: 'headrace_concurrency',
    help: 'Handlers that may run at once, by pool.',
    of: ({ worker }) => worker.concurrency,
  },
  {
    name: 'headrace_overdue',
    help: 'Runs that are due and have not started, as far as this member knows: there may be more.',
    of: ({ worker }) => overdueOf(worker).count,
  },
  {
    name: 'headrace_overdue_oldest_seconds',
    help: 'How long the oldest of these has been due; 0: none is.',
    of: ({ worker }) => {
      const { oldestMs } = overdueOf(worker)
      return oldestMs === null ? null : oldestMs / 1000
    },
  },
]

interface LabelledLane {
  labels: Labels
  meter: LaneMeter
}

/** Of lanes of which nothing was ever taken there are no series. */
export function workMetrics(pools: readonly PoolMeter[]): Metric[] {
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
      const series = pools.flatMap((pool) => {
        const value = of(pool)
        return value === null ? [] : [{ labels: { pool: pool.pool }, value }]
      })
      return { name, help, kind: 'gauge', series }
    }),
  ]
  return metrics.filter(({ series }) => series.length > 0)
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
