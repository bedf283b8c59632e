// The Idempotency-Key of a request: by which name a repeat of it is known, and for how long.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PutRequest, PutResponse } from '../pool/store.ts'
import { refuse } from './json.ts'

const KEEP_ANSWERS_MS = 24 * 3_600_000

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': 'Names this request, for 24 hours: a repeat is answered as the first was.',
}

/** What the request repeats, if it says so. `kind` tells requests apart whose bodies are the same. */
export function repeatOf(request: FastifyRequest, kind: string, bytes: Buffer): PutRequest['repeat'] {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw refuse('the Idempotency-Key is not 1 to 255 visible ASCII characters', 'send a random id')
  }
  const fingerprint = createHash('sha256').update(kind).update(bytes).digest('base64url')
  return { id: key, fingerprint, keepMs: KEEP_ANSWERS_MS }
}

/** Lines are answered bit by bit, and nobody keeps those answers. */
export function refuseRepeatOfLines(request: FastifyRequest): void {
  if (request.headers['idempotency-key'] === undefined) return
  throw refuse('a stream of lines has no Idempotency-Key', 'leave it out, or send a JSON list')
}

/** Says that an answer is a kept one. */
export function markReplay(reply: FastifyReply, response: PutResponse): void {
  if (response.kind === 'answered' && response.replayed) reply.header('idempotency-replayed', 'true')
}
