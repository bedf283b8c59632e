// Which bodies are read, and how: JSON as bytes, so that a handler can fingerprint and parse them; NDJSON not
// at all, so that its handler can stream it.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HeadraceError } from '../errors.ts'
import type { Guard } from './auth.ts'
import { readBody } from './gather.ts'
import { readJson, refuse } from './json.ts'

/** Stands for a body that its handler reads line by line. */
export const NDJSON = Symbol('ndjson')

/** The type of answers that are written as text. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** The second is what `curl -d` sends, the third what it sends when told nothing but to send text. */
const JSON_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain']
export const NDJSON_TYPES = ['application/x-ndjson', 'application/jsonl']

/** A list is one transaction, and others wait behind it. */
const LONGEST_LIST = 10_000

/** Types that are given without a word on how they are encoded, as nearly all are. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([...JSON_TYPES, ...NDJSON_TYPES])

export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, (_request, body, done) => readBody(body, done))
  app.addContentTypeParser(NDJSON_TYPES, (_request, _body, done) => done(null, NDJSON))
  // Called for every other type, and for none at all.
  app.addContentTypeParser('*', (request, body, done) => {
    const type = request.headers['content-type']
    if (type === undefined) readBody(body, done)
    else done(mediaType(type))
  })
}

/** Refuses bytes that are not plain UTF-8, before any of them is read. */
export const refuseEncoding: Guard = ({ 'content-type': type = '', 'content-encoding': encoding }) => {
  if (encoding === undefined && PLAIN_TYPES.has(type)) return
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? []
  if (!/^utf-?8$/i.test(charset)) throw mediaType(type)
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new HeadraceError('media_type', `the content encoding ${encoding.slice(0, 64)} is not understood`, {
    remedy: 'send the body as it is, without Content-Encoding',
  })
}

/** The body as bytes of JSON, or an error that says what was sent instead. */
export function bytesOf(request: FastifyRequest): Buffer {
  const { body } = request
  if (Buffer.isBuffer(body)) return body
  if (body === NDJSON) throw mediaType(String(request.headers['content-type']))
  throw refuse('the body is empty', 'send JSON')
}

/** The body, or what stands for one that was left out. */
export function bytesOr(request: FastifyRequest, otherwise: string): Buffer {
  const { body } = request
  const isEmpty = body === undefined || body === null || (Buffer.isBuffer(body) && body.length === 0)
  return isEmpty ? Buffer.from(otherwise) : bytesOf(request)
}

export function jsonOf(request: FastifyRequest): unknown {
  return readJson(bytesOf(request))
}

export function refuseLength(length: number, what: { one: string; many: string }): void {
  if (length === 0) throw refuse('the list is empty', `send at least one ${what.one}`)
  if (length <= LONGEST_LIST) return
  throw refuse(
    `the list has ${length} ${what.many}, the limit is ${LONGEST_LIST}`,
    `stream them as NDJSON, one ${what.one} a line, which has no limit`,
  )
}

function mediaType(type: string): HeadraceError {
  return new HeadraceError('media_type', `the content type ${type.slice(0, 64)} is not understood`, {
    remedy: 'send application/json in UTF-8, or application/x-ndjson to POST /ticks',
  })
}
