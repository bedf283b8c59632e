// /v1/status: what runs here, in one answer.
import type { FastifyInstance } from 'fastify'
import type { Headrace } from '../headrace.ts'
import type { ServiceState } from '../service.ts'
import { VERSION } from '../version.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext } from './route.ts'
import { STATUS } from './schemas.ts'
import { summary } from './topics.ts'

const DOC: RouteDoc = {
  summary: 'What runs here. Ticks are counted at most once a second.',
  answer: { 'application/json': STATUS },
  errors: READ_ERRORS,
}

export interface Status {
  version: string
  member: string
  store: string
  uptimeMs: number
  services: { name: string; state: ServiceState }[]
  ticks: { mode: string; partitions: number; counts: Record<string, number> }
  topics: ReturnType<typeof summary>[]
  roster: RosterStatus
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
  app.get('/v1/status', { config: { doc: DOC } }, () => readStatus(context))
}

export async function readStatus({ race, ticks, startedAt, counts }: ServerContext): Promise<Status> {
  const { mode, partitions } = ticks.pool.settings
  return {
    version: VERSION,
    member: race.member,
    store: race.store.address,
    uptimeMs: Math.round(race.clock.mono() - startedAt),
    services: race.services(),
    ticks: { mode, partitions, counts: await counts.get() },
    topics: (await race.store.log.topics()).map(summary),
    roster: rosterStatus(race),
  }
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
