// Puts into any pool: one entry by its address, one or a list (all or nothing), or a stream of lines. Answers after the
// durable commit, which concurrent requests share.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Put, PutAnswer } from '../pool/merge.ts'
import type { Pool } from '../pool/pool.ts'
import { answersOf } from '../pool/put-options.ts'
import { JSON_TYPE, NDJSON, NDJSON_TYPES, bytesOf, bytesOr, refuseLength } from './body.ts'
import { readPut, readPuts, writePutResult } from './entry-input.ts'
import { IDEMPOTENCY_HEADER, markReplay, refuseRepeatOfLines, repeatOf } from './idempotency.ts'
import { isObject, readJson, refuse } from './json.ts'
import { NEW_ENTRY, PUT_BODY, PUT_LINE, PUT_RESULT } from './pool-schemas.ts'
import { ACCEPTED } from './problem.ts'
import { streamPuts } from './put-stream.ts'
import { type RouteDoc, type ServerContext, WRITE_ERRORS, readQuery } from './route.ts'
import { listOf } from './schemas.ts'

const ERRORS = [
  'invalid_input',
  'pool_unknown',
  'payloads_full',
  'idempotency_mismatch',
  ...WRITE_ERRORS,
] as const

const PUT: RouteDoc = {
  summary: 'Puts a key: asks for work on it.',
  query: { at: 'the time of the entry; in mode `each` only, where it is required' },
  headers: IDEMPOTENCY_HEADER,
  body: { 'application/json': PUT_BODY },
  optionalBody: true,
  answer: { 'application/json': PUT_RESULT },
  accepted: true,
  errors: ERRORS,
}
const POST: RouteDoc = {
  summary: 'Puts one key, a list of keys (all or nothing), or a stream of lines with a result for each.',
  headers: IDEMPOTENCY_HEADER,
  body: {
    'application/json': { oneOf: [NEW_ENTRY, listOf(NEW_ENTRY)] },
    ...Object.fromEntries(NDJSON_TYPES.map((type) => [type, NEW_ENTRY])),
  },
  answer: {
    'application/json': { oneOf: [PUT_RESULT, listOf(PUT_RESULT)] },
    'application/x-ndjson': PUT_LINE,
  },
  accepted: true,
  errors: ERRORS,
}

export function addEntriesPut(app: FastifyInstance, context: ServerContext): void {
  const path = '/v1/pools/:pool/entries'
  app.put(`${path}/:key`, { config: { doc: PUT } }, (request, reply) => putOne(context, request, reply))
  app.post(path, { config: { doc: POST } }, (request, reply) => post(context, request, reply))
}

async function putOne(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const pool = await context.pools.of(request)
  const { mode } = pool.settings
  const { key } = request.params as { key: string }
  const { at } = readQuery(request.query, ['at'])
  if (at !== undefined && mode === 'one') {
    throw refuse('the parameter at names nothing here: a key has one entry', 'send "at" in the body')
  }
  const bytes = bytesOr(request, '{}')
  const body = readJson(bytes)
  if (!isObject(body)) throw refuse('the body must be a JSON object', 'send {"payload": …}')
  const taken = ['key', ...(mode === 'each' ? ['at'] : [])].find((name) => Object.hasOwn(body, name))
  if (taken !== undefined) throw refuse(`${taken} stands in the path already`, `leave it out of the body`)
  const put = readPut({ ...body, key, ...(at === undefined ? {} : { at: momentOf(at) }) }, mode)
  const repeat = repeatOf(request, JSON.stringify(['put', key, at ?? null]), bytes)
  const response = await pool.request({ puts: [put], repeat })
  markReplay(reply, response)
  reply.code(ACCEPTED).header('content-type', JSON_TYPE)
  return writeAll(pool, [put], answersOf(response))
}

async function post(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const pool = await context.pools.of(request)
  const { mode } = pool.settings
  if (request.body === NDJSON) {
    refuseRepeatOfLines(request)
    const write = (put: Put, answer: PutAnswer): string => writePutResult(put, answer, mode)
    return streamPuts(context, { pool, read: (value) => readPut(value, mode), write }, { request, reply })
  }
  const bytes = bytesOf(request)
  const value = readJson(bytes)
  const many = Array.isArray(value)
  if (many) refuseLength(value.length, { one: 'entry', many: 'entries' })
  const puts = many ? readPuts(value, mode) : [readPut(value, mode)]
  if (many) await context.turns.next()
  const response = await pool.request({ puts, repeat: repeatOf(request, many ? 'list' : 'entry', bytes) })
  markReplay(reply, response)
  if (many) await context.turns.next()
  reply.code(ACCEPTED).header('content-type', JSON_TYPE)
  const text = writeAll(pool, puts, answersOf(response))
  return many ? `[${text}]` : text
}

function writeAll({ settings }: Pool, puts: readonly Put[], answers: readonly PutAnswer[]): string {
  const write = (put: Put, index: number): string =>
    `{${writePutResult(put, answers[index] as PutAnswer, settings.mode)}}`
  return puts.map(write).join(',')
}

/** A query holds text only; digits stand for milliseconds. */
function momentOf(at: string): string | number {
  return /^-?\d+$/.test(at) ? Number(at) : at
}
