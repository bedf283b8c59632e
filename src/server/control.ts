// /v1/pools/:pool/pause, resume and limits: control of a pool while it is worked on. Bodies are checked where the options
// of the library are.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toIso } from '../clock.ts'
import type { LimitsOptions, PauseOptions } from '../pool/control.ts'
import { bytesOr, jsonOf } from './body.ts'
import { isObject, readJson, refuse } from './json.ts'
import { LIMITS, NEW_LIMITS, NEW_PAUSE, PAUSED, RESUMED } from './pool-schemas.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'

const PAUSE: RouteDoc = {
  summary:
    'Lets no run of the pool start, and none of its ticks move, on any member, until it is resumed, or `until`. What runs goes ' +
    'on, and puts are taken. Of a pool that is paused already it changes all but `since`.',
  body: { 'application/json': NEW_PAUSE },
  optionalBody: true,
  answer: { 'application/json': PAUSED },
  errors: ['invalid_input', 'invalid_options', 'pool_unknown', ...WRITE_ERRORS],
}
const RESUME: RouteDoc = {
  summary: 'Ends the pause of a pool; one that is not paused stays so.',
  answer: { 'application/json': RESUMED },
  errors: ['invalid_input', 'pool_unknown', ...WRITE_ERRORS],
}
const GET: RouteDoc = {
  summary: 'The limits of a pool, for each group and for the pool as a whole; null where there is none.',
  answer: { 'application/json': LIMITS },
  errors: ['invalid_input', 'pool_unknown', ...READ_ERRORS],
}
const PUT: RouteDoc = {
  summary:
    'Changes the limits of a pool for all members, while work goes on, and answers all of them. What is left out stays as ' +
    'it is; null lifts it. Of a pool of ticks none can be set.',
  body: { 'application/json': NEW_LIMITS },
  answer: { 'application/json': LIMITS },
  errors: ['invalid_input', 'invalid_options', 'pool_unknown', ...WRITE_ERRORS],
}

export function addControl(app: FastifyInstance, { pools }: ServerContext): void {
  const path = '/v1/pools/:pool'
  app.post(`${path}/pause`, { config: { doc: PAUSE } }, async (request) => {
    const options = readPause(request)
    return pauseJson(await (await pools.of(request)).pause(options))
  })
  app.post(`${path}/resume`, { config: { doc: RESUME } }, async (request) => {
    readQuery(request.query, [])
    return { resumed: await (await pools.of(request)).resume() }
  })
  app.get(`${path}/limits`, { config: { doc: GET } }, async (request) => {
    readQuery(request.query, [])
    return (await pools.of(request)).limits()
  })
  app.put(`${path}/limits`, { config: { doc: PUT } }, async (request) => {
    const options = readLimits(request)
    return (await pools.of(request)).limit(options)
  })
}

interface Pause {
  by: string | null
  reason: string | null
  since: number | Date
  until: number | Date | null
}

/** A pause as answers show it. */
export function pauseJson(pause: Pause | null): unknown {
  if (pause === null) return null
  const { by, reason, since, until } = pause
  return { by, reason, since: toIso(Number(since)), until: until === null ? null : toIso(Number(until)) }
}

function readPause(request: FastifyRequest): PauseOptions {
  readQuery(request.query, [])
  const body = readJson(bytesOr(request, '{}'))
  if (isObject(body)) return body
  throw refuse('the body must be a JSON object', 'send {"by": "ann", "reason": "provider is down"}')
}

function readLimits(request: FastifyRequest): LimitsOptions {
  readQuery(request.query, [])
  const body = jsonOf(request)
  if (isObject(body)) return body
  throw refuse('the body must be a JSON object', 'send {"pool": {"rate": {"count": 50, "per": "1s"}}}')
}
