// What a worker tells of its runs, for whoever measures, and what it can say of itself when asked. Types alone: the meter
// knows no worker, and a worker no meter.
import type { Paused } from './control.ts'
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
  /** The store answered its mark, and wrote nothing. */
  unmarked(lane: Lane, result: Exclude<SettleWord, 'settled'>): void
  /** It is `at` now, by the monotonic clock. */
  turn(at: number): void
}

/** Where the meters of pools are found. */
export interface WorkMeters {
  /** The meter of one pool, from now on also asked of its worker. */
  work(pool: string, worker: WorkerSight): WorkMeter
}

/** Where pools of ticks are watched. */
export interface TickMeters {
  /** From now on asked of who moves the ticks of a pool. */
  watchTicks(pool: string, look: () => TicksSight): void
}

/** What who moves the ticks of a pool knows at this moment. */
export interface TicksSight {
  /** Whether it holds partitions of the pool, and has read what steers it. */
  isSteered: boolean
  /** The pause that holds, as far as it is known; null: none does. */
  paused: Paused | null
  /** When the first tick is due, as the last pulse told; null: it told of none. */
  heardDueAt: number | null
  /** The store's clock, as far as it is known. */
  now: number
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
  /** Whether it is yet to read some of what is due, for which its takes had no time. [X48] */
  readonly isBehind: boolean
  /** Whether it has read what steers the pool: its pause and limits. */
  readonly isSteered: boolean
  /** The pause that holds, as far as it is known; null: none does. */
  readonly paused: Paused | null
  /** The limit that keeps something of the pool waiting here, or would; null: none does. */
  readonly reached: ReachedLimit | null
  /** The run that has this member to itself, or waits for that: nothing else starts; null: there is none. [X45] */
  readonly alone: AloneRun | null
  /** When the first run of all lanes is due, as a pulse told since the last take; null: none told. */
  readonly heardDueAt: number | null
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
  /** Of a limit of the pool: how much of it this member has; null of a group. */
  share: number | null
}

/** A limit as it was set, of each group or of the pool. */
export interface ReachedLimit {
  kind: 'rate' | 'concurrency'
  scope: 'pool' | 'group'
  /** Null: it was changed a moment ago. */
  limit: number | null
  /** Of a rate: how long the limit is for. */
  perMs: number | null
  /** Of a limit of the pool: how much of it this member has; null of a group. */
  share: number | null
}

/** A run that a whole member is for. */
export interface AloneRun {
  pool: string
  key: string
}

/** What is due in a lane and has not started, as far as its worker knows. [I6] */
export interface LaneBacklog {
  lane: Lane
  /** Taken and not started, whatever they wait for, and those that were let go and not read again. */
  waiting: number
  /** More may be due: it was not read, or passed over. */
  isMore: boolean
  /** When the first of those was due that wait or were passed over; null: there are none. */
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
