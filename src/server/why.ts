// /v1/why: why a key does not run yet. Gathers the evidence, from the store, the roster and the worker of this process, and
// leaves the judgement to pool/why.ts.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkKey } from '../check.ts'
import { toIso } from '../clock.ts'
import { poolResource } from '../fence.ts'
import type { Headrace } from '../headrace.ts'
import { type Control, pauseAt } from '../pool/control.ts'
import { type Entry, stateOf } from '../pool/entry.ts'
import type {
  Evidence,
  LimitEvidence,
  PartitionEvidence,
  PauseEvidence,
  StoreEvidence,
  WorkerEvidence,
} from '../pool/evidence.ts'
import type { WorkerSight } from '../pool/work-meter.ts'
import { why } from '../pool/why.ts'
import type { RosterView } from '../roster/store.ts'
import { readMoment } from './entry-query.ts'
import { refuse } from './json.ts'
import { WHY } from './meter-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readQuery } from './route.ts'

const GET: RouteDoc = {
  summary:
    'Why a key does not run yet: one reason of a closed list, with evidence and what to do. The owner of its partition ' +
    'knows most: ask that one when the reason is `unknown`.',
  query: {
    key: 'the key',
    pool: 'its pool; that of ticks unless said',
    at: 'in a pool of mode `each`: the moment that was asked for; the one due first unless said',
  },
  answer: { 'application/json': WHY },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}

/** The most entries of one key that are looked through for the one that is meant. */
const MOST_SLOTS = 1000

export function addWhy(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/why', { config: { doc: GET } }, (request) => answer(context, request))
}

async function answer(context: ServerContext, request: FastifyRequest): Promise<unknown> {
  const query = readQuery(request.query, ['key', 'pool', 'at'])
  if (query.key === undefined) throw refuse('the parameter key is missing', 'name the key: /v1/why?key=vm-17')
  const evidence = await gather(context, {
    pool: query.pool ?? context.ticks.pool.name,
    key: checkKey(query.key),
    at: query.at === undefined ? null : readMoment(query.at),
  })
  const { entry, partition } = evidence
  const owner = partition?.owner ?? null
  const found = why(evidence)
  return {
    pool: evidence.pool,
    key: evidence.key,
    now: toIso(evidence.now),
    ...found,
    evidence: withTimes(found.evidence),
    dueAt: entry === null ? null : toIso(entry.dueAt),
    partition: entry?.partition ?? null,
    owner: owner === null ? null : { name: owner.name, address: owner.address },
  }
}

interface Asked {
  pool: string
  key: string
  at: number | null
}

async function gather({ race, pools }: ServerContext, asked: Asked): Promise<Evidence> {
  const { pool, key } = asked
  const view = await race.store.roster.view()
  const worker = race.meter.pools().find((each) => each.pool === pool)?.worker ?? null
  await pools.open(pool)
  const { now, entry } = await findEntry(race, asked)
  const { control } = await race.store.pool.control.read(pool)
  return {
    pool,
    key,
    now,
    entry:
      entry === null
        ? null
        : {
            state: stateOf(entry, now),
            slot: entry.slot,
            dueAt: entry.next.dueAt,
            attempt: entry.attempt,
            lane: entry.lane,
            partition: entry.partition,
            tally: entry.next.tally,
          },
    paused: pausedAt(control, now),
    limit: entry === null ? null : limitOf(worker, entry, control, now),
    partition: entry === null ? null : partitionOf(race, view, poolResource(pool), entry.partition),
    worker: worker === null || entry === null ? null : workerOf(race, worker, asked, entry),
    store: storeOf(race, worker),
  }
}

function pausedAt(control: Control, at: number): PauseEvidence | null {
  const paused = pauseAt(control, at)
  return paused === null ? null : { by: paused.by, reason: paused.reason, until: paused.until }
}

/** Which limits are reached only the worker knows that holds the partition. */
function limitOf(
  worker: WorkerSight | null,
  { group, partition }: Entry,
  { limits }: Control,
  now: number,
): LimitEvidence | null {
  const held = worker?.holds(partition) === true ? worker.heldBack({ group, partition }) : null
  if (held === null) return null
  const { kind, scope, inMs } = held
  const { concurrency, rate } = limits[scope]
  const limit = kind === 'rate' ? rate?.count : concurrency
  // It was changed a moment ago, and the worker goes by the earlier one.
  if (limit === undefined || limit === null) return null
  const perMs = kind === 'rate' ? (rate?.perMs ?? null) : null
  return { kind, scope, limit, perMs, until: inMs === null ? null : Math.ceil(now + inMs) }
}

/** The entry that is meant; the one due first where no moment was named. */
async function findEntry(
  race: Headrace,
  { pool, key, at }: Asked,
): Promise<{ now: number; entry: Entry | null }> {
  const { now, entries } = await race.store.pool.browse.list(pool, {
    key,
    limit: at === null ? 1 : MOST_SLOTS,
  })
  const entry = entries.find(({ slot }) => at === null || slot === null || slot === at)
  return { now, entry: entry ?? null }
}

function partitionOf(
  race: Headrace,
  view: RosterView,
  resource: string,
  partition: number,
): PartitionEvidence {
  const allotted = view.allotments.find((each) => each.resource === resource && each.partition === partition)
  const memberOf = (id: string | null | undefined): RosterView['members'][number] | undefined =>
    view.members.find((member) => member.id === id)
  const owner = memberOf(allotted?.owner)
  const next = memberOf(allotted?.next)?.name ?? allotted?.next ?? null
  return {
    owner:
      owner === undefined
        ? null
        : {
            name: owner.name,
            address: owner.address,
            draining: owner.draining,
            silent: view.now - owner.heartbeatAt > race.options.lease,
          },
    next,
    servers: view.members.filter(({ serves }) => serves.includes(resource)).length,
    isHere: allotted !== undefined && allotted.owner === race.roster.id,
  }
}

function workerOf(race: Headrace, worker: WorkerSight, { key }: Asked, { partition }: Entry): WorkerEvidence {
  const { running, concurrency } = worker
  return {
    running,
    concurrency,
    waiting: worker.backlog().reduce((sum, { waiting }) => sum + waiting, 0),
    holds: worker.holds(partition),
    isStopping: race.state === 'stopping',
    sight: worker.sight(key),
  }
}

function storeOf(race: Headrace, worker: WorkerSight | null): StoreEvidence {
  return {
    p99Ms: race.meter.lately.store.all().quantile(0.99),
    pulseAgeMs: race.pulseAgeMs,
    leaseMs: race.options.lease,
    isFailing: worker?.isFailing ?? false,
    isTrusted: race.options.join === 'no' || race.roster.isTrusted,
  }
}

const TIMES: readonly string[] = ['until', 'dueAt', 'slot']

function withTimes(evidence: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(evidence).map(([name, value]) => {
    return [name, TIMES.includes(name) && typeof value === 'number' ? toIso(value) : value]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}
