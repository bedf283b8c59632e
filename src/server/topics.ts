// /v1/topics: what there is, and pages of events. Following is in stream.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseOtherPartition } from '../log/refuse.ts'
import type { LogStore, TopicStatus } from '../log/store.ts'
import { MOST_EVENTS } from '../log/topic.ts'
import { JSON_TYPE } from './body.ts'
import { writeEvent } from './event-json.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readNumber, readQuery } from './route.ts'
import { EVENTS, FOLLOWED_EVENT, TOPIC, TOPICS } from './schemas.ts'
import { followPartition, wantsStream } from './stream.ts'

const PAGE = 100
/** A page ends early when its events are this large together. */
const LARGEST_PAGE_BYTES = 4 * 1024 * 1024

const LIST: RouteDoc = {
  summary: 'Every topic.',
  answer: { 'application/json': TOPICS },
  errors: READ_ERRORS,
}
const GET: RouteDoc = {
  summary: 'One topic, with the offsets that each partition holds.',
  answer: { 'application/json': TOPIC },
  errors: ['topic_unknown', ...READ_ERRORS],
}
const READ: RouteDoc = {
  summary: 'Events of one partition in order; with `Accept: text/event-stream` it follows.',
  query: {
    from: 'the first offset; the oldest unless said',
    limit: `events in one page, 1 to ${MOST_EVENTS}`,
  },
  headers: { 'Last-Event-ID': 'When following: go on after this offset.' },
  answer: { 'application/json': EVENTS, 'text/event-stream': FOLLOWED_EVENT },
  errors: ['invalid_input', 'topic_unknown', 'partition_unknown', 'offset_gone', ...READ_ERRORS],
}

export function addTopics(app: FastifyInstance, context: ServerContext): void {
  const { log } = context.race.store
  app.get('/v1/topics', { config: { doc: LIST } }, (request) => list(log, request))
  app.get('/v1/topics/:topic', { config: { doc: GET } }, (request) => get(log, request))
  app.get('/v1/topics/:topic/partitions/:n/events', { config: { doc: READ } }, async (request, reply) => {
    return readPartition(context, request, reply)
  })
}

async function list(log: LogStore, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  return { items: (await log.topics()).map(summary) }
}

async function get(log: LogStore, request: FastifyRequest): Promise<unknown> {
  readQuery(request.query, [])
  const status = await log.topic(topicOf(request))
  return { ...summary(status), bounds: status.bounds }
}

/** A topic without its bounds, and with the number of events it holds. */
export function summary({ name, partitions, retentionMs, bounds }: TopicStatus): Record<string, unknown> {
  const events = bounds.reduce((sum, { oldest, head }) => sum + head - oldest, 0)
  return { name, partitions, retentionMs, events }
}

function topicOf(request: FastifyRequest): string {
  return (request.params as { topic: string }).topic
}

async function readPartition(
  context: ServerContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { log } = context.race.store
  const { from, limit } = readQuery(request.query, ['from', 'limit'])
  const wanted = limit === undefined ? PAGE : readNumber(limit, 'limit', { min: 1, max: MOST_EVENTS })
  const status = await log.topic(topicOf(request))
  const number = (request.params as { n: string }).n
  const partition = /^\d{1,9}$/.test(number) ? Number(number) : Number.NaN
  refuseOtherPartition(status, partition)
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER }
  const first = from === undefined ? null : readNumber(from, 'from', bounds)
  const oldest = status.bounds.find((bound) => bound.partition === partition)?.oldest ?? 0
  const position = { partition, offset: first ?? oldest }
  if (wantsStream(request)) return followPartition(context, status.name, position, request, reply)
  const { events } = await log.read(status.name, {
    from: [position],
    limit: wanted,
    maxBytes: LARGEST_PAGE_BYTES,
  })
  reply.header('content-type', JSON_TYPE)
  return `{"events":[${events.map(writeEvent).join(',')}],"next":${position.offset + events.length}}`
}
