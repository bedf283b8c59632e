// What is known of a key that somebody asks about: gathered by who can look, judged by why.ts. Types alone.
import type { EntryState, Lane } from './entry.ts'
import type { AloneRun, KeySight } from './work-meter.ts'

/** What is known of an entry, its pool, its partition and who works on it. Times are the store's clock. */
export interface Evidence {
  pool: string
  key: string
  now: number
  /** Null: there is no such entry. */
  entry: EntryEvidence | null
  /** The pool is known as one of ticks: nothing works on it, its entries move to a topic. */
  isTicks: boolean
  paused: PauseEvidence | null
  /** A limit that keeps the entry waiting; null: none does. */
  limit: LimitEvidence | null
  /** Null: the roster could not be read. */
  partition: PartitionEvidence | null
  /** The worker of the pool in the process that was asked; null: there is none. */
  worker: WorkerEvidence | null
  store: StoreEvidence
}

export interface EntryEvidence {
  state: EntryState
  /** Null in mode `one`. */
  slot: number | null
  dueAt: number
  attempt: number
  lastError: string | null
  lane: Lane
  partition: number
  tally: number
}

/** The pool was paused; null is what was not said, and `until` null: until somebody resumes it. */
export interface PauseEvidence {
  by: string | null
  reason: string | null
  until: number | null
}

export interface LimitEvidence {
  kind: 'rate' | 'concurrency'
  scope: 'pool' | 'group'
  limit: number
  /** Of a rate: how long the limit is for. */
  perMs: number | null
  /** Of a limit of the pool: how much of it the member that was asked has; null of a group. */
  share: number | null
  /** When it may run at the earliest; null: when another has ended, or it is not known. */
  until: number | null
}

export interface PartitionEvidence {
  /** Null: nobody owns it, or its owner is no member any more. */
  owner: OwnerEvidence | null
  /** The name of the member that it is to be handed over to; null: it stays. */
  next: string | null
  /** How many members serve the pool. */
  servers: number
  /** The owner is the process that was asked. */
  isHere: boolean
}

export interface OwnerEvidence {
  /** Under which it is in the roster. */
  id: string
  name: string
  /** Where its API answers; null: it has none. */
  address: string | null
  draining: boolean
  /** What works on the pool, or moves its ticks, stops there. */
  stopping: boolean
  /** It has said nothing for more than a lease. */
  silent: boolean
}

export interface WorkerEvidence {
  running: number
  concurrency: number
  waiting: number
  /** Whether it holds the partition, and may start runs of it. */
  holds: boolean
  isStopping: boolean
  /** The run that has this member to itself, or waits for that; null: there is none. */
  alone: AloneRun | null
  /** Null: nothing of the key is in flight. */
  sight: KeySight | null
}

export interface StoreEvidence {
  /** Of its latest calls; null: there were none. */
  p99Ms: number | null
  pulseAgeMs: number
  /** Of this member: it pulses several times within it. */
  leaseMs: number
  /** Whether the last look of the worker failed. */
  isFailing: boolean
  /** The worker is yet to read some of what is due; with what the store found of who makes that slow. Null: it is not. */
  behind: { holder: string | null; remedy: string | null } | null
  /** Whether the roster answered lately enough to work by it. */
  isTrusted: boolean
}
