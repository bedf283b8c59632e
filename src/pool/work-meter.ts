// What a worker tells of its runs, for whoever measures, and what it can say of itself when asked. Types alone: the meter
// knows no worker, and a worker no meter.
import type { EntryState, Lane, TakenRun } from './entry.ts'
import type { RunOutcome, SettleWord } from '../telemetry.ts'

/** Told of every run of one pool, step by step. Allocates nothing; times are milliseconds. */
export interface WorkMeter {
  /** It was taken, that late; `delayMs` is from its last put, null: nobody put it, it runs by its own `again`. */
  taken(lane: Lane, latenessMs: number, delayMs: number | null): void
  /** Its handler was called, `waitMs` after the take. */
  started(lane: Lane, waitMs: number): void
  /** Its handler ended; null: it is let go, and due as before. `tally`: how many puts it stood for. */
  ended(lane: Lane, runMs: number, outcome: RunOutcome | null, tally: number): void
  /** The store answered its settle, `tookMs` after its end. */
  settled(lane: Lane, tookMs: number, result: SettleWord): void
  /** It is `at` now, by the monotonic clock. */
  turn(at: number): void
}

/** Where the meters of pools are found. */
export interface WorkMeters {
  /** The meter of one pool, from now on also asked of its worker. */
  work(pool: string, worker: WorkerSight): WorkMeter
}

/** What a worker knows of itself at this moment. */
export interface WorkerSight {
  readonly concurrency: number
  /** Handlers that have not ended. */
  readonly running: number
  /** Runs that are taken and not settled, those that run included. */
  readonly inFlight: number
  /** Whether it holds partitions of the pool, and may take from them. */
  readonly mayTake: boolean
  /** Whether its last look at the store failed. */
  readonly isFailing: boolean
  /** Whether it may start runs of this partition. */
  holds(partition: number): boolean
  /** The store's clock, as far as it is known. */
  now(): number
  backlog(): LaneBacklog[]
  /** The limit that keeps runs of this group waiting; null: none does. */
  heldBack(run: Pick<TakenRun, 'group' | 'partition'>): HeldRun | null
  /** What it knows of a key; null: nothing of it is in flight here. */
  sight(key: string): KeySight | null
}

/** A limit that is reached. */
export interface HeldRun {
  kind: 'rate' | 'concurrency'
  scope: 'pool' | 'group'
  /** How long until time alone makes room; null: another must end, or it is not known. */
  inMs: number | null
}

/** What is due in a lane and has not started, as far as its worker knows. [I6] */
export interface LaneBacklog {
  lane: Lane
  /** Taken, and waiting for a handler. */
  waiting: number
  /** More is due than was taken. */
  isMore: boolean
  /** When the first of those that wait was due; null: none waits. */
  oldestDueAt: number | null
}

/** What is known of a key that is in flight. */
export interface KeySight {
  phase: 'waiting' | 'running' | 'settling'
  slot: number | null
  attempt: number
  /** How long it has been in this phase. */
  forMs: number
  /** Its signal has fired, and its handler goes on all the same; null: it has not. */
  aborted: 'stop' | 'timeout' | 'lost' | 'cancel' | null
}

/** What an entry is to somebody who asks why: beside the states of the store, on its way or not there. */
export type AskedState = EntryState | 'running' | 'absent'
