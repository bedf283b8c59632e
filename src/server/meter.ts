// /v1/meter: the numbers of work, bucket by bucket. /v1/verdict: what they come to.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { WINDOWS, type Window } from '../meter/lane-meter.ts'
import type { WorkQuery } from '../meter/work-view.ts'
import { LANES, type Lane } from '../pool/entry.ts'
import { readMeter, readVerdict } from './insight.ts'
import { refuse } from './json.ts'
import { METER, VERDICT } from './meter-schemas.ts'
import { type RouteDoc, type ServerContext, readQuery } from './route.ts'

const GET: RouteDoc = {
  summary:
    'The work of this member by pool and lane: how late, how long, how much coalesced and collided, in buckets of a ' +
    'window; and what is overdue, as far as it knows.',
  query: {
    pool: 'only this pool',
    lane: 'only this lane: `fanout`, `normal` or `bulk`',
    window: '`1s` (the last 2 minutes), `10s` (15 minutes, the default) or `60s` (2 hours)',
  },
  answer: { 'application/json': METER },
  errors: ['invalid_input'],
}
const JUDGE: RouteDoc = {
  summary:
    'How this member is doing, in one sentence, with findings and what is not the cause. Reads no rows.',
  answer: { 'application/json': VERDICT },
  errors: ['invalid_input'],
}

export function addMeter(app: FastifyInstance, { race }: ServerContext): void {
  app.get('/v1/meter', { config: { doc: GET } }, async (request) => readMeter(race, queryOf(request)))
  app.get('/v1/verdict', { config: { doc: JUDGE } }, async (request) => {
    readQuery(request.query, [])
    return readVerdict(race)
  })
}

function queryOf(request: FastifyRequest): WorkQuery {
  const { pool, lane, window = '10s' } = readQuery(request.query, ['pool', 'lane', 'window'])
  return {
    pool,
    lane: lane === undefined ? undefined : choose<Lane>(lane, LANES, 'lane'),
    window: choose<Window>(window, WINDOWS, 'window'),
  }
}

function choose<Choice extends string>(text: string, choices: readonly Choice[], name: string): Choice {
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw refuse(`${name} is ${JSON.stringify(text.slice(0, 64))}`, `choose ${choices.join(', ')}`)
}
