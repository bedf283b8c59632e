// /v1/status: what runs here, in one answer.
import type { FastifyInstance } from 'fastify'
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
  }
}
