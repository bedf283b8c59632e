// Which bodies are read, and how: JSON as bytes, so that a handler can fingerprint and parse them; NDJSON not
// at all, so that its handler can stream it.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HeadraceError } from '../errors.ts'
import { readJson, refuse } from './json.ts'

/** Stands for a body that its handler reads line by line. */
export const NDJSON = Symbol('ndjson')

/** The type of answers that are written as text. */
export const JSON_TYPE = 'application/json; charset=utf-8'

const JSON_TYPES = ['application/json', 'application/x-www-form-urlencoded']
export const NDJSON_TYPES = ['application/x-ndjson', 'application/jsonl']

export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addContentTypeParser(NDJSON_TYPES, (_request, _body, done) => done(null, NDJSON))
  // Called for every other type, and for none at all.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const type = request.headers['content-type']
    if (type === undefined) done(null, body)
    else done(mediaType(type))
  })
}

/** The body as bytes of JSON, or an error that says what was sent instead. */
export function bytesOf(request: FastifyRequest): Buffer {
  const { body } = request
  if (Buffer.isBuffer(body)) return body
  if (body === NDJSON) throw mediaType(String(request.headers['content-type']))
  throw refuse('the body is empty', 'send JSON')
}

export function jsonOf(request: FastifyRequest): unknown {
  return readJson(bytesOf(request))
}

function mediaType(type: string): HeadraceError {
  return new HeadraceError('media_type', `the content type ${type.slice(0, 64)} is not understood`, {
    remedy: 'send application/json, or application/x-ndjson to POST /ticks',
  })
}
