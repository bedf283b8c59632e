// /v1/shares: outside collectors join, tell that they are there, ask which objects are theirs, and leave.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toIso } from '../clock.ts'
import { Collectors, type Share } from '../roster/collectors.ts'
import { CREATED } from './problem.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import {
  COLLECTOR_LEFT,
  COLLECTOR_LOAD,
  HEARTBEAT,
  NEW_COLLECTOR,
  PASS,
  SHARE,
  SHARE_ANSWER,
  SHARE_REMOVED,
  SHARES,
} from './schemas.ts'
import { collectorOf, readDivision, readNewCollector, readPass, readRelease, shareOf } from './share-input.ts'

const COLLECTOR_ERRORS = ['invalid_input', 'invalid_options', 'collector_unknown', ...WRITE_ERRORS] as const

const GET: RouteDoc = {
  summary: 'The collectors of a share, what they reported here, and how many workers would be enough.',
  answer: { 'application/json': SHARE },
  errors: ['invalid_options', 'share_unknown', ...READ_ERRORS],
}
const LIST: RouteDoc = {
  summary: 'All shares, with the number of their collectors and when one without collectors is removed.',
  answer: { 'application/json': SHARES },
  errors: ['invalid_options', ...READ_ERRORS],
}
const REMOVE: RouteDoc = {
  summary: 'Removes a share that has no collectors. One that has is refused: stop them first.',
  answer: { 'application/json': SHARE_REMOVED },
  errors: ['invalid_options', 'share_unknown', 'share_in_use', ...WRITE_ERRORS],
}
const JOIN: RouteDoc = {
  summary: 'A new collector of a share. It has no filter before the leader has seen it.',
  body: { 'application/json': NEW_COLLECTOR },
  optionalBody: true,
  answer: { 'application/json': SHARE_ANSWER },
  created: true,
  errors: ['invalid_input', 'invalid_options', 'resource_mismatch', 'shares_full', ...WRITE_ERRORS],
}
const BEAT: RouteDoc = {
  summary:
    'Keeps a collector alive. Residues that it was asked to release go to others when a heartbeat names them by the same text.',
  body: { 'application/json': HEARTBEAT },
  optionalBody: true,
  answer: { 'application/json': SHARE_ANSWER },
  errors: COLLECTOR_ERRORS,
}
const FILTER: RouteDoc = {
  summary:
    'The share of a collector: what it may work on, and what it must release. Reads, and changes nothing.',
  query: { by: 'refused unless the share is divided by this: id, hash' },
  answer: { 'application/json': SHARE_ANSWER },
  errors: ['invalid_input', 'invalid_options', 'resource_mismatch', 'collector_unknown', ...READ_ERRORS],
}
const FINISHED: RouteDoc = {
  summary: 'The collector finished a pass over its share.',
  body: { 'application/json': PASS },
  answer: { 'application/json': COLLECTOR_LOAD },
  errors: ['invalid_input', 'invalid_options', 'collector_unknown', ...READ_ERRORS],
}
const LEAVE: RouteDoc = {
  summary: 'The collector works no more, and hands over at once.',
  answer: { 'application/json': COLLECTOR_LEFT },
  errors: COLLECTOR_ERRORS,
}

export function addShares(app: FastifyInstance, { race: { store, clock, options } }: ServerContext): void {
  const collectors = new Collectors({ store, clock, leaseMs: options.lease })
  const path = '/v1/shares/:share/collectors'
  app.get('/v1/shares', { config: { doc: LIST } }, (request) => list(collectors, request))
  app.get('/v1/shares/:share', { config: { doc: GET } }, (request) => get(collectors, request))
  app.delete('/v1/shares/:share', { config: { doc: REMOVE } }, async (request) => {
    readQuery(request.query, [])
    const share = shareOf(request)
    return { share, partitions: await collectors.remove(share) }
  })
  app.post(path, { config: { doc: JOIN } }, (request, reply) => join(collectors, request, reply))
  app.post(`${path}/:id/heartbeat`, { config: { doc: BEAT } }, async (request) => {
    readQuery(request.query, [])
    return written(await collectors.heartbeat(collectorOf(request), readRelease(request)))
  })
  app.get(`${path}/:id/filter`, { config: { doc: FILTER } }, (request, reply) =>
    read(collectors, request, reply),
  )
  app.post(`${path}/:id/finished`, { config: { doc: FINISHED } }, (request) => {
    readQuery(request.query, [])
    return collectors.finished(collectorOf(request), readPass(request))
  })
  app.delete(`${path}/:id`, { config: { doc: LEAVE } }, async (request) => {
    readQuery(request.query, [])
    const key = collectorOf(request)
    return { id: key.id, handedOver: await collectors.leave(key) }
  })
}

async function list(collectors: Collectors, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const items = await collectors.list()
  return {
    items: items.map((item) => ({
      ...item,
      expiresAt: item.expiresAt === null ? null : toIso(item.expiresAt),
    })),
  }
}

async function get(collectors: Collectors, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const view = await collectors.view(shareOf(request))
  return {
    ...view,
    collectors: view.collectors.map((collector) => ({
      ...collector,
      joinedAt: toIso(collector.joinedAt),
      expiresAt: toIso(collector.expiresAt),
    })),
  }
}

async function join(collectors: Collectors, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  readQuery(request.query, [])
  const joined = await collectors.join(shareOf(request), readNewCollector(request))
  reply.code(CREATED)
  return written(joined)
}

async function read(collectors: Collectors, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { by } = readQuery(request.query, ['by'])
  const share = await collectors.read(collectorOf(request), by === undefined ? undefined : readDivision(by))
  // An answer kept on the way would give away residues that are another's by now.
  reply.header('cache-control', 'no-store')
  return written(share)
}

function written(share: Share): unknown {
  return { ...share, expiresAt: toIso(share.expiresAt) }
}
