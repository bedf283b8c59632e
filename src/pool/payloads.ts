// Every payload that was put, in pools that keep them all: which a run sees, and how many an entry may hold. Pure; every
// store calls it or is compared with it. Rules [M14] to [M16] of docs/spec/pool.md.
import { HeadraceError } from '../errors.ts'
import type { Entry } from './entry.ts'
import type { PutResult } from './merge.ts'
import type { Settlement } from './settle.ts'

export const KEPT_PAYLOADS = ['latest', 'all'] as const
/** Which payloads a run sees: that of the latest put, or those of all puts that it stands for. */
export type KeptPayloads = (typeof KEPT_PAYLOADS)[number]

/** The most payloads of an entry, and the most bytes of them all. */
export const MOST_PAYLOADS = 1000
export const MOST_PAYLOAD_BYTES = 1024 * 1024

/** The payloads of an entry's runs, each in the order of the puts. */
export interface PayloadLists {
  readonly next: readonly string[]
  readonly after: readonly string[]
}

/** What a put did, as far as payloads are concerned. */
export interface PutInto {
  result: PutResult
  /** The run that holds the put. */
  into: 'next' | 'after'
}

export const NO_PAYLOADS: PayloadLists = { next: [], after: [] }

/** The lists after a put: a run that was created or replaced begins anew. [M14] */
export function addPayload(lists: PayloadLists, payload: string | undefined, did: PutInto): PayloadLists {
  if (did.result === 'kept') return lists
  const added = payload === undefined ? [] : [payload]
  if (did.result === 'created') return { next: added, after: [] }
  const earlier = did.result === 'replaced' ? [] : lists[did.into]
  return { ...lists, [did.into]: [...earlier, ...added] }
}

/** What became of the payloads of a run that was settled. [M15] */
export type SettledPayloads = 'kept' | 'seen are gone' | 'those of after are next' | 'gone'

/** Those that the run saw go, unless it failed, or died and nothing else is left: then it may be redriven. */
export function settledPayloads(
  { before, now }: { before: Entry; now: Entry | null },
  { seen, outcome }: Settlement,
  from: number,
): SettledPayloads {
  if (now === null) return 'gone'
  if (outcome.kind === 'retry' || now.state === 'dead') return 'kept'
  if (before.next.tally > seen || before.after === null) return 'seen are gone'
  const isOwnEarlier =
    outcome.kind === 'again' && Math.max(from, outcome.dueAt) < Math.max(from, before.after.dueAt)
  return isOwnEarlier ? 'seen are gone' : 'those of after are next'
}

/** What an entry holds too much of; null: it does not. [M16] */
export function tooMuch({ count, bytes }: { count: number; bytes: number }): string | null {
  if (count > MOST_PAYLOADS) return `${MOST_PAYLOADS} payloads`
  return bytes > MOST_PAYLOAD_BYTES ? '1 MiB of payloads' : null
}

export function weigh({ next, after }: PayloadLists): { count: number; bytes: number } {
  const all = [...next, ...after]
  return { count: all.length, bytes: all.reduce((sum, text) => sum + Buffer.byteLength(text), 0) }
}

export interface PayloadsRefusal {
  pool: string
  key: string
  /** What it would hold more than. */
  most: string
}

/** What a put meets whose entry would hold more than it may. */
export function payloadsFull({ pool, key, most }: PayloadsRefusal): HeadraceError {
  return new HeadraceError(
    'payloads_full',
    `the entry ${key} of the pool ${pool} would hold more than ${most}`,
    {
      remedy: 'put again when it has run, put without a payload, or use a pool that keeps the latest alone',
    },
  )
}

/** An entry holds no more: thrown inside a request, and caught where it began. */
export class Full extends Error {
  readonly key: string
  readonly most: string

  constructor(key: string, most: string) {
    super(most)
    this.key = key
    this.most = most
  }
}
