// What a put is given by a caller of the library, and what comes of it.
import type { Moment } from '../check.ts'
import type { Duration } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import type { Lane, OnConflict } from './entry.ts'
import type { PutAnswer } from './merge.ts'
import { payloadsFull } from './payloads.ts'
import type { PutResponse } from './store.ts'

export interface PutOptions {
  /** When it is due; now unless said. */
  at?: Moment
  /** Due after this long; not together with `at`. */
  in?: Duration
  /** Anything JSON can hold. */
  payload?: unknown
  /** `normal` unless said, or `fanout` in a pool that fans out. */
  lane?: Lane
  /** Decides the partition, so that related keys share an owner; the key unless said. */
  group?: string
  onConflict?: OnConflict
  /** With `replace`: puts do not put the run off for longer than this, since the first of them. */
  longestWait?: Duration
}

/**
 * What came of a put: it made an entry, joined the puts of one, threw them away, or found that it is not needed. `dueAt` and
 * `tally` are those of the run that holds it. With `tx` it is `Accepted`.
 */
export type PutOutcome =
  | { result: 'created' | 'replaced'; dueAt: Date; tally: 1 }
  | { result: 'merged'; dueAt: Date; tally: number }
  /** Of the run that was there already; a tally of 0: it has fired. */
  | { result: 'kept'; dueAt: Date; tally: number }

/** The answers of a response; a mismatched repeat, and what is refused, is an error for library callers. */
export function answersOf(response: PutResponse): PutAnswer[] {
  if (response.kind === 'answered') return response.answers
  if (response.kind === 'refused') throw payloadsFull(response)
  throw new HeadraceError('idempotency_mismatch', 'this idempotency key was used before with another body', {
    remedy: 'use a new key for a new request',
  })
}
