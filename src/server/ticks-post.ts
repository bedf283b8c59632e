// POST /ticks: one tick, a list, or a stream of lines. Answers after the durable commit, which concurrent
// requests share. The hottest path: it builds its small answer by hand.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PutAnswer } from '../pool/merge.ts'
import { answersOf } from '../pool/put-options.ts'
import { JSON_TYPE, NDJSON, NDJSON_TYPES, bytesOf, refuseLength } from './body.ts'
import { IDEMPOTENCY_HEADER, markReplay, refuseRepeatOfLines, repeatOf } from './idempotency.ts'
import { readJson } from './json.ts'
import { ACCEPTED } from './problem.ts'
import { streamPuts } from './put-stream.ts'
import { type RouteDoc, type ServerContext, WRITE_ERRORS } from './route.ts'
import { NEW_TICK, TICK_LINE, TICK_RESULT, listOf } from './schemas.ts'
import { writeResult } from './tick-answer.ts'
import { type TickPut, readTick, readTicks } from './tick-input.ts'

const DOC: RouteDoc = {
  summary: 'Posts one tick, a list of ticks (all or nothing), or a stream of lines with a result for each.',
  headers: IDEMPOTENCY_HEADER,
  body: {
    'application/json': { oneOf: [NEW_TICK, listOf(NEW_TICK)] },
    ...Object.fromEntries(NDJSON_TYPES.map((type) => [type, NEW_TICK])),
  },
  answer: {
    'application/json': { oneOf: [TICK_RESULT, listOf(TICK_RESULT)] },
    'application/x-ndjson': TICK_LINE,
  },
  accepted: true,
  errors: ['invalid_input', 'pool_unknown', 'tick_exists', 'idempotency_mismatch', ...WRITE_ERRORS],
}

export function addTicksPost(app: FastifyInstance, context: ServerContext): void {
  app.post('/ticks', { config: { doc: DOC } }, (request, reply) => post(context, request, reply))
}

async function post(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const pool = await context.pools.ticks()
  if (request.body === NDJSON) {
    refuseRepeatOfLines(request)
    const read = (value: unknown): TickPut => readTick(value, pool.settings.mode)
    return streamPuts(context, { pool, read, write: writeResult }, { request, reply })
  }
  const bytes = bytesOf(request)
  const value = readJson(bytes)
  const many = Array.isArray(value)
  if (many) refuseLength(value.length, { one: 'tick', many: 'ticks' })
  const puts = many ? readTicks(value, pool.settings.mode) : [readTick(value, pool.settings.mode)]
  const repeat = repeatOf(request, many ? 'list' : 'tick', bytes)
  const response = await pool.request({ puts, repeat })
  const answers = answersOf(response)
  markReplay(reply, response)
  reply.code(ACCEPTED).header('content-type', JSON_TYPE)
  return many ? writeAll(puts, answers) : write(puts, answers, 0)
}

function write(puts: TickPut[], answers: PutAnswer[], index: number): string {
  return `{${writeResult(puts[index] as TickPut, answers[index] as PutAnswer)}}`
}

function writeAll(puts: TickPut[], answers: PutAnswer[]): string {
  return `[${puts.map((_, index) => write(puts, answers, index)).join(',')}]`
}
