// /v1/status: what runs here, in one answer.
import type { FastifyInstance } from 'fastify'
import type { Headrace } from '../headrace.ts'
import type { ServiceState } from '../service.ts'
import { VERSION } from '../version.ts'
import { MOST_LISTED, type PoolDetail, poolDetails } from './pools.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readQuery } from './route.ts'
import { STATUS } from './status-schema.ts'
import { summary } from './topics.ts'

const DOC: RouteDoc = {
  summary: `What runs here, and the pools of the store, at most ${MOST_LISTED}. Ticks are counted at most once a second.`,
  answer: { 'application/json': STATUS },
  errors: READ_ERRORS,
}

export interface Status {
  version: string
  member: string
  store: string
  uptimeMs: number
  services: { name: string; state: ServiceState }[]
  /** Null: nobody has made any in this store. */
  ticks: TicksStatus | null
  pools: PoolStatus[]
  /** How many pools there are. */
  poolsTotal: number
  topics: ReturnType<typeof summary>[]
  roster: RosterStatus
}

export interface TicksStatus {
  mode: string
  partitions: number
  counts: Record<string, number>
}

/** A pool of the store, and what the worker of this process has under way; null: it has none. */
export interface PoolStatus extends PoolDetail {
  work: { running: number; concurrency: number } | null
}

/** This member's part in the roster, as of its last pulse. */
export interface RosterStatus {
  joined: boolean
  id: string
  name: string
  leader: { member: string; name: string | null; term: number } | null
  shares: { resource: string; partitions: number; held: number }[]
}

export function addStatus(app: FastifyInstance, context: ServerContext): void {
  app.get('/v1/status', { config: { doc: DOC } }, (request) => {
    readQuery(request.query, [])
    return readStatus(context)
  })
}

export async function readStatus(context: ServerContext): Promise<Status> {
  const { race, startedAt } = context
  const { items, total } = await poolDetails(context)
  return {
    version: VERSION,
    member: race.member,
    store: race.store.address,
    uptimeMs: Math.round(race.clock.mono() - startedAt),
    services: race.services(),
    ticks: await ticksStatus(context),
    pools: items.map((pool) => ({ ...pool, work: workOf(race, pool.name) })),
    poolsTotal: total,
    topics: (await race.store.log.topics()).map(summary),
    roster: rosterStatus(race),
  }
}

async function ticksStatus({ pools, counts }: ServerContext): Promise<TicksStatus | null> {
  const pool = await pools.ticksIfAny()
  const found = pool === null ? null : await counts.get()
  if (pool === null || found === null) return null
  const { mode, partitions } = pool.settings
  return { mode, partitions, counts: found }
}

function workOf({ meter }: Headrace, pool: string): PoolStatus['work'] {
  const worker = meter.pools().find((each) => each.pool === pool)?.worker
  return worker === undefined ? null : { running: worker.running, concurrency: worker.concurrency }
}

function rosterStatus({ roster }: Headrace): RosterStatus {
  const { id, name, leader, view } = roster
  const holding = roster.beat()?.holding ?? null
  const shares = Object.entries(holding ?? {}).map(([resource, held]) => {
    const known = view?.resources.find((each) => each.name === resource)
    return { resource, partitions: known?.partitions ?? held.length, held: held.length }
  })
  const leads = view?.members.find((member) => member.id === leader?.member)
  return {
    joined: holding !== null,
    id,
    name,
    leader: leader === null ? null : { member: leader.member, name: leads?.name ?? null, term: leader.term },
    shares,
  }
}
