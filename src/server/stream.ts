// Following topics by server-sent events: one partition, or a whole topic.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Position, TopicStatus } from '../log/store.ts'
import { Follower } from './follower.ts'
import { refuse } from './json.ts'
import { READ_ERRORS, type RouteDoc, type ServerContext, readNumber, readQuery } from './route.ts'
import { FOLLOWED_EVENT } from './schemas.ts'

const FOLLOW: RouteDoc = {
  summary: 'Follows a whole topic by server-sent events; each id holds the positions of all partitions.',
  query: { from: '`head` (what comes from now on, the default) or `oldest`' },
  headers: { 'Last-Event-ID': 'Go on after the message with this id.' },
  answer: { 'text/event-stream': FOLLOWED_EVENT },
  errors: ['invalid_input', 'topic_unknown', ...READ_ERRORS],
}

export function addStream(app: FastifyInstance, context: ServerContext): void {
  const options = { config: { doc: FOLLOW }, exposeHeadRoute: false }
  app.get('/v1/topics/:topic/events', options, async (request, reply) => {
    const { from = 'head' } = readQuery(request.query, ['from'])
    if (from !== 'head' && from !== 'oldest') {
      throw refuse(`from is ${JSON.stringify(from.slice(0, 64))}`, 'choose head or oldest')
    }
    const status = await context.race.store.log.topic((request.params as { topic: string }).topic)
    const resumed = lastEventId(request)
    const starts = status.bounds.map((bounds) => (from === 'head' ? bounds.head : bounds.oldest))
    const positions = new Map(status.bounds.map(({ partition }, index) => [partition, starts[index] ?? 0]))
    if (resumed !== null) readPositions(resumed, status, positions)
    return follow(context, { topic: status.name, positions, whole: true }, reply)
  })
}

export function wantsStream(request: FastifyRequest): boolean {
  return request.method === 'GET' && (request.headers.accept ?? '').includes('text/event-stream')
}

export function followPartition(
  context: ServerContext,
  topic: string,
  { partition, offset }: Position,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const resumed = lastEventId(request)
  const first = resumed === null ? offset : readOffset(resumed, 'Last-Event-ID') + 1
  return follow(context, { topic, positions: new Map([[partition, first]]), whole: false }, reply)
}

function follow(
  context: ServerContext,
  what: { topic: string; positions: Map<number, number>; whole: boolean },
  reply: FastifyReply,
): FastifyReply {
  reply.hijack()
  const follower = new Follower(context, what, reply.raw)
  void follower.run()
  return reply
}

function lastEventId(request: FastifyRequest): string | null {
  const id = request.headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : null
}

/** `0:12,1:7` → where to go on in each partition; partitions that it does not name stay as they are. */
function readPositions(id: string, status: TopicStatus, positions: Map<number, number>): void {
  for (const part of id.split(',')) {
    const [partition = '', offset = ''] = part.split(':')
    const number = readNumber(partition, 'Last-Event-ID', { min: 0, max: status.partitions - 1 })
    positions.set(number, readOffset(offset, 'Last-Event-ID'))
  }
}

function readOffset(text: string, name: string): number {
  return readNumber(text, name, { min: 0, max: Number.MAX_SAFE_INTEGER - 1 })
}
