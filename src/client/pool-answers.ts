// What the server answers about pools, as JSON gives it: times are RFC 3339 text.

export interface PoolView {
  name: string
  mode: 'one' | 'each'
  partitions: number
  /** How long fired slots are remembered. */
  rememberMs: number
  /** How long the records of deaths are kept. */
  deadForMs: number
  /** Whether its entries go in the lane `fanout` unless their put names one. */
  fansOut: boolean
  /** How long a key rests after a run; 0: not at all. */
  throttleMs: number
  /** Which payloads of the puts that a run stands for it sees. */
  payloads: 'latest' | 'all'
}

/** A pool by itself: its settings, its pause and its limits. */
export interface PoolDetail extends PoolView {
  /** The pause that holds now; null: none does. */
  paused: PausedView | null
  limits: LimitsView
}

export interface PausedView {
  by: string | null
  reason: string | null
  since: string
  /** Null: it ends with `resume`. */
  until: string | null
}

export interface LimitsView {
  /** For each group by itself. */
  group: LimitView
  /** For the pool as a whole. */
  pool: LimitView
}

/** Null: there is no such limit. */
export interface LimitView {
  concurrency: number | null
  /** At most so many starts in every span of that length, spaced if it is `spread`. */
  rate: { count: number; perMs: number; spread?: boolean } | null
}

export interface EntryView {
  key: string
  /** The time that names it, in mode `each`. */
  at: string | null
  dueAt: string
  state: 'waiting' | 'due' | 'backing-off' | 'dead'
  /** How many puts its next run stands for. */
  tally: number
  payload?: unknown
  after: { dueAt: string; tally: number; payload?: unknown } | null
  partition: number
  lane: 'fanout' | 'normal' | 'bulk'
  group: string
  /** How many attempts of its next run have failed; of a dead entry: all that it had. */
  attempt: number
  failing: boolean
  /** What its last attempt failed with, until a run of it is done; null: nothing was thrown. */
  lastError: string | null
  enqueuedAt: string
  putAt: string
  /** What its run told last, while it is under way; only where one entry is asked for. */
  progress?: unknown
  progressAt?: string
}

/** What a put or a move of an entry did. */
export interface PutAnswer {
  key: string
  at: string | null
  dueAt: string
  tally: number
  result: 'created' | 'merged' | 'replaced' | 'kept'
}

export interface EntryCancelled {
  key: string
  /** How many were removed before they were due. */
  cancelled: number
  /** How many were removed when they were due already: a run may be on its way. */
  due: number
}

/** A run that was given up. */
export interface DeadView {
  id: number
  key: string
  at: string | null
  tally: number
  payload?: unknown
  /** Of every put, in a pool that keeps them all. */
  payloads?: unknown[]
  reason: string
  error: string | null
  /** Deaths of one kind have the same reason and error but for numbers and ids. */
  kind: string
  /** The group of the put. */
  group: string
  /** `dead`: the entry is dead. `retrying`: it runs again, and is not done yet. `recovered`: it was done since, or removed. */
  state: 'dead' | 'retrying' | 'recovered'
  diedAt: string
}

/** Deaths with the same reason and error but for numbers and ids. */
export interface DeadKindView {
  kind: string
  reason: string
  error: string | null
  count: number
  first: string
  last: string
  /** Some of their keys, the newest first. */
  keys: string[]
}
