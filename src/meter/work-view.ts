// The work of pools as JSON: buckets of one window with their rates and quantiles, and how each worker is now. Rules [I3]
// to [I6] of docs/spec/meter.md.
import { toIso } from '../clock.ts'
import type { Paused } from '../pool/control.ts'
import type { Lane } from '../pool/entry.ts'
import { type CollisionsView, POOL_COLLISIONS, collisionsView } from './collisions.ts'
import { Hdr, type Sparse } from './hdr.ts'
import { type Bucket, KEPT, STEPS, type Step, type Window } from './lane-meter.ts'
import { type Overdue, type Overdues, overdueOf } from './overdue.ts'
import { type PoolMeter, countOf } from './pool-meter.ts'

export interface Quantiles {
  count: number
  meanMs: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
  maxMs: number
}

export interface BucketView {
  /** When it began. */
  at: string
  taken: number
  started: number
  /** Done, asked to run again, or dead. */
  finished: number
  again: number
  retried: number
  dead: number
  cancelled: number
  letGo: number
  /** Puts for each finished run; null: none finished. */
  coalescing: number | null
  /** Of settles and marks. */
  collisions: { lost: number; refused: number; perSecond: number }
  /** Null: there was none. */
  steps: Record<Step, Quantiles | null>
}

export interface LaneView {
  lane: Lane
  overdue: Overdue
  buckets: BucketView[]
}

export interface PoolView {
  pool: string
  running: number
  concurrency: number
  inFlight: number
  overdue: Overdue
  /** The pause that holds; null: none does. */
  paused: { by: string | null; reason: string | null; since: string; until: string | null } | null
  /** The buckets in which something collided, those of its lanes included. */
  collisions: CollisionsView<(typeof POOL_COLLISIONS)[number]>[]
  lanes: LaneView[]
}

export interface WorkQuery {
  window: Window
  pool?: string | undefined
  lane?: Lane | undefined
  /** Only the latest bucket that is over. */
  latest?: boolean
}

export function workView(pools: readonly PoolMeter[], query: WorkQuery): PoolView[] {
  return pools
    .filter(({ pool }) => query.pool === undefined || pool === query.pool)
    .map((meter) => {
      const { pool, worker } = meter
      const { running, concurrency, inFlight, paused } = worker
      const overdue = overdueOf(worker)
      return {
        pool,
        running,
        concurrency,
        inFlight,
        overdue: overdue.pool,
        paused: paused === null ? null : pausedView(paused),
        collisions: collisionsView(meter.all(), { ...query, kinds: POOL_COLLISIONS, second: meter.second }),
        lanes: lanesOf(meter, overdue, query),
      }
    })
}

function pausedView({ by, reason, since, until }: Paused): PoolView['paused'] {
  return { by, reason, since: toIso(since), until: until === null ? null : toIso(until) }
}

/** Of lanes of which nothing was ever taken, or is known to wait, there is no view. */
function lanesOf(
  pool: PoolMeter,
  overdues: Overdues,
  { window, lane: wanted, latest = false }: WorkQuery,
): LaneView[] {
  const { seconds } = KEPT[window]
  const now = pool.second
  const last = Math.floor(now / seconds) - 1
  return pool.lanes().flatMap(({ lane, meter }) => {
    const overdue = overdues.lanes[lane]
    const isThere = meter.total('taken') > 0 || (overdue.count ?? 0) > 0
    if (wanted === undefined ? !isThere : lane !== wanted) return []
    const buckets = meter.buckets(window, now).filter(({ nth }) => !latest || nth === last)
    return [{ lane, overdue, buckets: buckets.map((bucket) => bucketView(bucket, seconds)) }]
  })
}

/** What a bucket of so many seconds says. */
export function bucketView({ nth, counts, steps }: Bucket, seconds: number): BucketView {
  const [finished, lost, refused] = [
    countOf(counts, 'finished'),
    countOf(counts, 'lost'),
    countOf(counts, 'refused'),
  ]
  return {
    at: toIso(nth * seconds * 1000),
    taken: countOf(counts, 'taken'),
    started: countOf(counts, 'started'),
    finished,
    again: countOf(counts, 'again'),
    retried: countOf(counts, 'retried'),
    dead: countOf(counts, 'dead'),
    cancelled: countOf(counts, 'cancelled'),
    letGo: countOf(counts, 'letGo'),
    coalescing: finished === 0 ? null : countOf(counts, 'asked') / finished,
    collisions: { lost, refused, perSecond: (lost + refused) / seconds },
    steps: Object.fromEntries(
      STEPS.map((step, place) => [step, quantilesOf(steps[place] ?? null)]),
    ) as BucketView['steps'],
  }
}

export function quantilesOf(sparse: Sparse | null): Quantiles | null {
  if (sparse === null) return null
  const all = new Hdr()
  all.add(sparse)
  const { count, sumMs, maxMs } = sparse
  return {
    count,
    meanMs: sumMs / count,
    p50Ms: all.quantile(0.5) ?? maxMs,
    p90Ms: all.quantile(0.9) ?? maxMs,
    p99Ms: all.quantile(0.99) ?? maxMs,
    maxMs,
  }
}
