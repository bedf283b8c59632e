// A store as a whole: its ports, one pulse, and hints. Opened by stores/open.ts.
import type { Clock } from './clock.ts'
import { HeadraceError } from './errors.ts'
import type { Faults } from './fault.ts'
import type { Claim, FenceStore } from './fence.ts'
import type { LogStore, NewEvent } from './log/store.ts'
import type { Put } from './pool/merge.ts'
import type { PoolStore } from './pool/store.ts'
import type { Beat, Beaten, LockStore, RosterStore } from './roster/store.ts'
import type { Emitter } from './telemetry.ts'
import type { UserTransaction } from './tx.ts'

export interface MoveRequest {
  pool: string
  topic: string
  /** The most ticks to move. */
  limit: number
  /** The partitions to move from, and by which right. */
  claim: Claim
}

export interface Moved {
  /** How many moved; as many as `limit` means that more may be due. */
  count: number
  /** The store's clock in the moving transaction: the time of the events. */
  now: number
  /** Of each moved tick: now minus its dueAt. */
  latenessMs: number[]
  /** When the next tick of the claimed partitions is due; null: none waits. */
  nextDueAt: number | null
  /** The claimed partitions whose fence is another's; nothing of them moved. */
  refused: readonly number[]
}

/** Due entries become events of a topic in one transaction: exactly once. A store has it or has not. */
export interface Mover {
  /** Moves due entries in due order per partition, none before its dueAt by the store's clock, fenced. [T1–T5] [F2] */
  move(request: MoveRequest): Promise<Moved>
}

export interface FoldRequest {
  pool: string
  /** The most arrivals of one partition to look at. */
  limit: number
  /** The partitions to fold in, and by which right. */
  claim: Claim
}

export interface Folded {
  /** How many arrivals became puts. */
  count: number
  /** More wait: fold again. */
  more: boolean
  /** When those runs are due that a later arrival may postpone. */
  postponable: readonly number[]
  /** The claimed partitions whose fence is another's; nothing of them was folded. */
  refused: readonly number[]
}

/**
 * Puts and appends in transactions of users. They count when the transaction has committed and they were folded; until
 * then they make nobody wait. A store has it or has not.
 */
export interface Arrivals {
  /** Puts that arrive with the user's commit. [U1] */
  put(tx: UserTransaction, pool: string, puts: readonly Put[]): Promise<void>
  /** Events that arrive with the user's commit, in the order given. [U1] */
  append(tx: UserTransaction, topic: string, events: readonly NewEvent[]): Promise<void>
  /** Folds what has arrived into entries, by the put table, once each and in its order, fenced. [U2] [U6] [F2] */
  foldPuts(request: FoldRequest): Promise<Folded>
  /** Folds up to `limit` events that have arrived into their topic, once each and in their order; answers how many. [U2] */
  foldEvents(topic: string, limit: number): Promise<number>
}

/** The answer to a put or append in a transaction of the user's own: it counts when that commits. */
export interface Accepted {
  result: 'accepted'
}

/** What a put or append with `tx` meets where the store has no arrivals. */
export function refuseTransaction(): HeadraceError {
  return new HeadraceError('invalid_options', 'this store takes no part in transactions of yours', {
    remedy: 'use a PostgreSQL store, or leave `tx` out and put after your own commit',
  })
}

export interface PulseRequest {
  /** What a member tells the roster; null: the roster stands in another store, or this is no member. */
  beat: Beat | null
  /** The pools whose next due time is asked for. */
  pools: readonly AskedPool[]
}

export interface AskedPool {
  pool: string
  partitions: readonly number[]
  /** What is due before is known to who asks: a store may leave it out. */
  from?: number
}

export interface Pulse {
  now: number
  /** When the next entry of each pool asked for is due, in the partitions asked for; null: none. */
  nextDueAt: ReadonlyMap<string, number | null>
  /** The version of what steers each pool asked for; 0: nothing does. [L11] */
  controls: ReadonlyMap<string, number>
  /** What became of the beat; null: there was none. */
  beaten: Beaten | null
  /** Resources in which arrivals wait to be folded: `pool/NAME` of those asked for, and `topic/NAME`. [U3] */
  arrived: readonly string[]
  /** Why the store lately refused writes though it answers reads, such as a full disk; null: it did not. */
  refusal: string | null
  /** Names the history that the store is in: it changes exactly when the store went back to an earlier state. [G6] */
  generation: string
}

/** Something changed. Hints may be lost, repeated or wrong; nothing may depend on one. */
export type Hint =
  | { kind: 'put'; pool: string; dueAt: number }
  | { kind: 'appended'; topic: string }
  /** What steers a pool was written. */
  | { kind: 'control'; pool: string }
  /** A member came or went, or an allotment changed. */
  | { kind: 'roster' }
  /** Another process wrote to the store. */
  | { kind: 'foreign' }

/** What a store found when it looked at itself, for people. */
export interface Finding {
  /** What was looked at, in a word or two. */
  check: string
  ok: boolean
  detail: string
  /** What to do about it; null where all is well. */
  remedy: string | null
}

export interface Store {
  /** The address without secrets. */
  readonly address: string
  readonly pool: PoolStore
  readonly log: LogStore
  readonly mover: Mover
  readonly arrivals: Arrivals | null
  readonly fences: FenceStore
  readonly roster: RosterStore
  readonly locks: LockStore
  /** One call that tells what a member must know twice a second, and lets the store keep house. [D4] [G2] [K1] */
  pulse(request: PulseRequest): Promise<Pulse>
  /** What the store finds of its own settings, rights and room; changes nothing. What fails has a remedy. */
  inspect(): Promise<Finding[]>
  /** Calls back on hints until the returned function is called. */
  watch(listener: (hint: Hint) => void): () => void
  /** Lets what is under way end; harmless when repeated. */
  close(): Promise<void>
}

/** What a store is handed from outside. */
export interface StoreContext {
  clock: Clock
  telemetry: Emitter
  faults: Faults
}
