// POST /ticks: one tick, a list, or a stream of lines. Answers after the durable commit, which concurrent
// requests share. The hottest path: it builds its small answer by hand.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import type { PutAnswer } from '../pool/merge.ts'
import { answersOf } from '../pool/pool.ts'
import type { PutRequest, PutResponse } from '../pool/store.ts'
import { JSON_TYPE, NDJSON, NDJSON_TYPES, bytesOf } from './body.ts'
import { readJson, refuse } from './json.ts'
import { ACCEPTED } from './problem.ts'
import { type RouteDoc, type ServerContext, WRITE_ERRORS } from './route.ts'
import { NEW_TICK, TICK_LINE, TICK_RESULT, listOf } from './schemas.ts'
import { writeResult } from './tick-answer.ts'
import { type TickPut, readTick, readTicks } from './tick-input.ts'
import { streamTicks } from './ticks-stream.ts'

/** A list is one transaction, and others wait behind it. */
const LONGEST_LIST = 10_000
const KEEP_ANSWERS_MS = 24 * 3_600_000

const DOC: RouteDoc = {
  summary: 'Posts one tick, a list of ticks (all or nothing), or a stream of lines with a result for each.',
  headers: { 'Idempotency-Key': 'Names this request, for 24 hours: a repeat is answered as the first was.' },
  body: {
    'application/json': { oneOf: [NEW_TICK, listOf(NEW_TICK)] },
    ...Object.fromEntries(NDJSON_TYPES.map((type) => [type, NEW_TICK])),
  },
  answer: {
    'application/json': { oneOf: [TICK_RESULT, listOf(TICK_RESULT)] },
    'application/x-ndjson': TICK_LINE,
  },
  accepted: true,
  errors: ['invalid_input', 'tick_exists', 'idempotency_mismatch', ...WRITE_ERRORS],
}

export function addTicksPost(app: FastifyInstance, context: ServerContext): void {
  app.post('/ticks', { config: { doc: DOC } }, (request, reply) => post(context, request, reply))
}

async function post(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const key = request.headers['idempotency-key']
  if (request.body === NDJSON) {
    if (key !== undefined) {
      throw refuse('a stream of lines has no Idempotency-Key', 'leave it out, or send a JSON list')
    }
    return streamTicks(context, request, reply)
  }
  const { pool } = context.ticks
  const bytes = bytesOf(request)
  const value = readJson(bytes)
  const many = Array.isArray(value)
  if (many) refuseLength(value.length)
  const puts = many ? readTicks(value, pool.settings.mode) : [readTick(value, pool.settings.mode)]
  const repeat = key === undefined ? null : repeatOf(key, bytes, many)
  const response = await pool.request({ puts, repeat })
  const answers = answersOf(response)
  if (isReplayed(response)) reply.header('idempotency-replayed', 'true')
  reply.code(ACCEPTED).header('content-type', JSON_TYPE)
  return many ? writeAll(puts, answers) : write(puts, answers, 0)
}

function refuseLength(length: number): void {
  if (length === 0) throw refuse('the list is empty', 'send at least one tick')
  if (length <= LONGEST_LIST) return
  throw refuse(
    `the list has ${length} ticks, the limit is ${LONGEST_LIST}`,
    'stream them as NDJSON, one tick a line, which has no limit',
  )
}

function isReplayed(response: PutResponse): boolean {
  return response.kind === 'answered' && response.replayed
}

function write(puts: TickPut[], answers: PutAnswer[], index: number): string {
  return `{${writeResult(puts[index] as TickPut, answers[index] as PutAnswer)}}`
}

function writeAll(puts: TickPut[], answers: PutAnswer[]): string {
  return `[${puts.map((_, index) => write(puts, answers, index)).join(',')}]`
}

function repeatOf(key: string | string[], bytes: Buffer, many: boolean): PutRequest['repeat'] {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw refuse('the Idempotency-Key is not 1 to 255 visible ASCII characters', 'send a random id')
  }
  const fingerprint = createHash('sha256')
    .update(many ? 'list' : 'tick')
    .update(bytes)
    .digest('base64url')
  return { id: key, fingerprint, keepMs: KEEP_ANSWERS_MS }
}
