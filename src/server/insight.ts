// Gathers what a server knows, for /v1/meter, /v1/verdict, /v1/stream and /v1/why. What is asked for often reads no rows.
import { poolResource } from '../fence.ts'
import type { Headrace } from '../headrace.ts'
import { COLLISIONS, type Collision, type CollisionsView, collisionsView } from '../meter/collisions.ts'
import { Hdr } from '../meter/hdr.ts'
import { type Bucket, KEPT, STEPS, type Window, joined } from '../meter/lane-meter.ts'
import { overdueOf, overdueTicks } from '../meter/overdue.ts'
import { type PoolMeter, countOf } from '../meter/pool-meter.ts'
import { type Facts, type PausedTicks, type PoolFacts, type Verdict, judge } from '../meter/verdict.ts'
import { type PoolView, type WorkQuery, workView } from '../meter/work-view.ts'
import { toIso } from '../clock.ts'
import { SLOW_CALL_MS } from '../pool/why.ts'

export interface StoreView {
  calls: number
  p50Ms: number | null
  p99Ms: number | null
  maxMs: number | null
}

export interface MeterView {
  now: string
  member: string
  window: Window
  seconds: number
  pools: PoolView[]
  /** Its calls of the last ten to twenty seconds. */
  store: StoreView
  /** The buckets in which something collided, of all that this member does. */
  collisions: CollisionsView<Collision>[]
}

export function readMeter(race: Headrace, query: WorkQuery): MeterView {
  return {
    now: toIso(race.clock.now()),
    member: race.member,
    window: query.window,
    seconds: KEPT[query.window].seconds,
    pools: workView(race.meter.pools(), query),
    store: storeView(race),
    collisions: collisionsOf(race, query),
  }
}

function collisionsOf({ meter }: Headrace, { window, latest = false }: WorkQuery): MeterView['collisions'] {
  const { collisions } = meter
  const ofLanes = meter.pools().flatMap((pool) => pool.lanes())
  const meters = [...ofLanes, ...collisions.all()].map((each) => each.meter)
  return collisionsView(meters, { kinds: COLLISIONS, window, latest, second: collisions.second })
}

export function readVerdict(race: Headrace): Verdict {
  return judge(factsOf(race))
}

function storeView({ meter }: Headrace): StoreView {
  const all = meter.lately.store.all()
  const maxMs = all.count === 0 ? null : all.maxMs
  return { calls: all.count, p50Ms: all.quantile(0.5), p99Ms: all.quantile(0.99), maxMs }
}

function factsOf(race: Headrace): Facts {
  const ticks = race.meter.lately.ticks.all()
  return {
    pools: race.meter.pools().map(poolFacts),
    ticks: { count: ticks.count, p99Ms: ticks.quantile(0.99), paused: pausedTicks(race) },
    store: {
      p99Ms: storeView(race).p99Ms,
      pulseAgeMs: race.pulseAgeMs,
      slowMs: SLOW_CALL_MS,
      leaseMs: race.options.lease,
    },
    roster: race.options.join === 'no' ? null : rosterFacts(race),
    services: race.services(),
  }
}

function pausedTicks({ meter }: Headrace): PausedTicks[] {
  return meter.ticks().flatMap(({ pool, sight }) => {
    const { paused } = sight
    return paused === null ? [] : [{ pool, paused, overdue: overdueTicks(sight, paused) }]
  })
}

/** Of the pools that this member serves, as of its last look at the roster. */
function rosterFacts({ roster, meter }: Headrace): Facts['roster'] {
  const names = new Set(meter.pools().map(({ pool }) => poolResource(pool)))
  const view = roster.view
  const members = new Set(view?.members.map(({ id }) => id))
  const served = view?.resources.filter(({ name }) => names.has(name)) ?? []
  const partitions = served.reduce((sum, resource) => sum + resource.partitions, 0)
  const owned =
    view?.allotments.filter(({ resource, owner }) => names.has(resource) && members.has(owner)).length ?? 0
  return {
    isTrusted: roster.isTrusted,
    hasLeader: roster.leader !== null,
    partitions,
    unowned: partitions - owned,
  }
}

function poolFacts(meter: PoolMeter): PoolFacts {
  const { pool, worker, second } = meter
  const buckets = meter.lanes().flatMap((lane) => lane.meter.buckets('1s', second))
  const latest = joined(
    0,
    buckets.filter(({ nth }) => nth >= second - 10),
  )
  const earlier = joined(
    0,
    buckets.filter(({ nth }) => nth >= second - 20 && nth < second - 10),
  )
  return {
    pool,
    running: worker.running,
    concurrency: worker.concurrency,
    overdue: overdueOf(worker).pool,
    paused: worker.paused,
    reached: worker.reached,
    finished: countOf(latest.counts, 'finished') - countOf(latest.counts, 'dead'),
    failed: countOf(latest.counts, 'retried') + countOf(latest.counts, 'dead'),
    latenessP50Ms: latenessOf(latest),
    earlierP50Ms: latenessOf(earlier),
  }
}

function latenessOf({ steps }: Bucket): number | null {
  const lateness = steps[STEPS.indexOf('lateness')] ?? null
  if (lateness === null) return null
  const all = new Hdr()
  all.add(lateness)
  return all.quantile(0.5)
}
