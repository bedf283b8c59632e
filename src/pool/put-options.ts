// What a put is given by a caller of the library, and what comes of it.
import { type Moment, describe } from '../check.ts'
import { checkOptions, optionTable } from '../check-options.ts'
import type { Duration } from '../duration.ts'
import { HeadraceError, assert } from '../errors.ts'
import type { Lane, OnConflict } from './entry.ts'
import type { PutAnswer } from './merge.ts'
import { payloadsFull } from './payloads.ts'
import type { PutResponse, RescheduleAnswer } from './store.ts'
import type { AnyTransaction } from '../tx.ts'

/** What a put may say of when and how its run is made. */
export interface PutTerms {
  /** When it is due; default now. */
  at?: Moment
  /** Due so long after the put, by the store's clock; not together with `at`. */
  in?: Duration
  /** Default `normal`, or `fanout` in a pool that fans out. */
  lane?: Lane
  /** Decides the partition, so that related keys share an owner; default the key. */
  group?: string
  onConflict?: OnConflict
  /** With `replace`: puts do not put the run off for longer than this, since the first of them. */
  longestWait?: Duration
  /** Who asks, as W3C writes it: with `headrace/otel` the spans of the put and its run are linked to it. It is not stored. */
  trace?: TraceContext | undefined
}

/** Anything JSON can hold; it may be left out only where the pool's type allows `undefined`. */
export type PutOptions<Payload = unknown> = PutTerms &
  (undefined extends Payload ? { payload?: Payload } : { payload: Payload })

/** The options of a put, which are needed where a payload is. */
export type PutArguments<Payload> = undefined extends Payload
  ? [options?: PutOptions<Payload>]
  : [options: PutOptions<Payload>]

/** What `add` may say: there is no other put of its key. */
export type AddOptions = Pick<PutTerms, 'at' | 'in' | 'lane' | 'group' | 'trace'>

export interface TraceContext {
  /** `00-TRACE-SPAN-FLAGS`, such as the header of the same name. */
  traceparent: string
}

/** Null: there is none. */
export function checkTrace(trace: unknown): string | null {
  if (trace === undefined) return null
  // Types do not hold callers from JavaScript.
  const { traceparent } = Object(trace) as Partial<TraceContext>
  if (typeof traceparent === 'string' && TRACEPARENT.test(traceparent)) return traceparent
  throw new HeadraceError('invalid_input', `trace.traceparent is ${describe(traceparent)}`, {
    remedy: 'write 00-TRACE-SPAN-FLAGS with 32, 16 and 2 hexadecimal digits, or leave it out',
  })
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Values are checked where a put is made of them. */
const NAMES = {
  at: null,
  in: null,
  payload: null,
  lane: null,
  group: null,
  onConflict: null,
  longestWait: null,
  trace: null,
} as const
const RETRY = 'name it where the pool is worked on: race.work(pool, handler, { retry: { attempts } })'
/** What queues of other makes call it. */
const ELSEWHERE = {
  delay: "did you mean in? A put is due after a while with in: '5s', or at a moment with at",
  runAt: 'did you mean at?',
  startAfter: 'did you mean at, or in?',
  priority: 'did you mean lane?',
  data: 'did you mean payload?',
  jobId: 'the key is the first argument',
  attempts: RETRY,
  maxAttempts: RETRY,
  retries: RETRY,
  retry: RETRY,
  retryLimit: RETRY,
  maxWait: 'did you mean longestWait?',
  transaction: 'did you mean tx?',
}
const HINT = 'data goes under payload: { payload: { … } }'
const TX_OF_ALL = 'all puts share one transaction: putAll(puts, { tx })'
const MERGING = 'the key of add is fresh: use put with a key of your own'
const PUT = optionTable<PutOptions & TxOptions>('a put', { ...NAMES, tx: null }, ELSEWHERE, HINT)
const PUT_OF_MANY = optionTable<PutOptions & { key: string }>(
  'a put of many',
  { key: null, ...NAMES },
  { ...ELSEWHERE, tx: TX_OF_ALL, transaction: TX_OF_ALL },
  HINT,
)
const ADD = optionTable<AddOptions & TxOptions>(
  'add',
  { at: null, in: null, lane: null, group: null, trace: null, tx: null },
  {
    ...ELSEWHERE,
    onConflict: MERGING,
    longestWait: MERGING,
    key: MERGING,
    payload: 'it is the first argument',
  },
)
const PUT_ALL = optionTable<TxOptions>('putAll', { tx: null }, { transaction: 'did you mean tx?' })

export interface TxOptions {
  /** A transaction of yours, which this becomes a part of: of pg, postgres.js, Drizzle, Kysely, Knex or Prisma. */
  tx?: AnyTransaction
}

export function checkPutOptions(options: unknown): void {
  checkOptions(options, PUT)
}

export function checkAddOptions(options: unknown): void {
  checkOptions(options, ADD)
}

export function checkPutAll(puts: unknown, options: unknown): void {
  if (!Array.isArray(puts)) {
    throw new HeadraceError('invalid_input', `the puts of putAll are ${describe(puts)}`, {
      remedy: 'give a list: putAll([{ key }, { key }])',
    })
  }
  for (const put of puts) checkOptions(put, PUT_OF_MANY)
  checkOptions(options, PUT_ALL)
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

/** What came of a reschedule; nothing was changed unless it is `moved`. [C2] */
export type RescheduleOutcome =
  | { kind: 'moved'; answer: { result: 'created' | 'replaced'; dueAt: Date; tally: number } }
  /** Due already, or the new slot has fired. */
  | { kind: 'due' }
  /** In mode `each`: another entry stands in the new slot. */
  | { kind: 'exists' }
  | { kind: 'absent' }

/** A reschedule as callers of the library read it. */
export function rescheduleOutcome(answered: RescheduleAnswer): RescheduleOutcome {
  if (answered.kind !== 'moved') return answered
  const { result, dueAt, tally } = answered.answer
  assert(result === 'created' || result === 'replaced', `a move is not ${result}`)
  return { kind: 'moved', answer: { result, dueAt: new Date(dueAt), tally } }
}

/** The answers of a response; a mismatched repeat, and what is refused, is an error for library callers. */
export function answersOf(response: PutResponse): PutAnswer[] {
  if (response.kind === 'answered') return response.answers
  if (response.kind === 'refused') throw payloadsFull(response)
  throw new HeadraceError('idempotency_mismatch', 'this idempotency key was used before with another body', {
    remedy: 'use a new key for a new request',
  })
}
