// The port of a pool's store: what every store promises. Rules in brackets are those of docs/spec/pool.md.
import type { Claim } from '../fence.ts'
import type { Control } from './control.ts'
import type { Entry, EntryState, Lane, Mode, TakenRun } from './entry.ts'
import type { Put, PutAnswer } from './merge.ts'
import type { KeptPayloads } from './payloads.ts'
import type { Death, DeathState, Settlement } from './settle.ts'

export interface PoolSettings {
  name: string
  mode: Mode
  partitions: number
  /**
   * How long a fired slot is remembered, so that a repeated put of it is kept; 0: not at all. Null leaves what
   * the store holds, and a new pool remembers nothing.
   */
  rememberMs: number | null
  /** How long the records of deaths are kept. Null or left out leaves what the store holds; at first 30 days. */
  deadForMs?: number | null
  /** Whether its runs put many others: then their lane is `fanout` unless the put names one. Left out: as the store has it. */
  fansOut?: boolean
  /** How long a key rests after each of its runs, in mode `one`; 0: not at all. Left out: as the store has it. */
  throttleMs?: number
  /** Which payloads its runs see; fixed. Left out: as the store has it, and a new pool keeps the latest. */
  payloads?: KeptPayloads
}

/** A pool as its store holds it. */
export interface StoredPool {
  name: string
  mode: Mode
  partitions: number
  rememberMs: number
  deadForMs: number
  fansOut: boolean
  throttleMs: number
  payloads: KeptPayloads
}

/** Some puts that are applied together, and by which name a repeat of them is known. */
export interface PutRequest {
  puts: Put[]
  /** With an id the answers are kept, and the same id with the same fingerprint is answered from them. */
  repeat: { id: string; fingerprint: string; keepMs: number } | null
}

export type PutResponse =
  | { kind: 'answered'; answers: PutAnswer[]; replayed: boolean }
  /** The id was used with another fingerprint; nothing was done. */
  | { kind: 'mismatch' }
  /** The entry of the key would hold more than so many payloads; nothing of the request was done. [M16] */
  | { kind: 'refused'; pool: string; key: string; most: string }

export type CancelResult = 'cancelled' | 'due' | 'absent'

export interface CancelAnswer {
  /** Entries that were removed before they were due. */
  cancelled: number
  /** Entries that were removed when due: a run may be on its way. */
  due: number
}

export interface Reschedule {
  key: string
  slot: number | null
  /** The new time. */
  at: number
}

export type RescheduleAnswer =
  | { kind: 'moved'; answer: PutAnswer }
  /** Due already, or the new slot has fired: too late, nothing was changed. */
  | { kind: 'due' }
  /** In mode `each`: another entry stands in the new slot; nothing was changed. */
  | { kind: 'exists' }
  | { kind: 'absent' }

export interface TakeRequest {
  /** The partitions to take from; null: all. */
  partitions: readonly number[] | null
  lane: Lane
  /** Entries due before this moment are not looked at. */
  from: number
  limit: number
  /** The store may answer fewer, the earliest of them, and say where it cut, if that is cheaper. */
  mayCut?: boolean
}

export interface Taken {
  /** The store's clock at the read. */
  now: number
  /** In due order within each partition. */
  runs: TakenRun[]
  /** When the next run of the lane and the partitions is due that was not yet; null: none waits, or the limit was met. */
  nextDueAt: number | null
  /** The limit left out what is due from then on. Absent: from the last on, if as many were answered as the limit allows. */
  cutAt?: number
  /** Its time was over before it had read all that is due: what it did not read is due from `cutAt` on. [D6] */
  isPart?: boolean
}

export interface SettleAnswer {
  /** `gone`: the turn is no longer there. `refused`: the fence is another's. Nothing was written in either case. */
  result: 'settled' | 'gone' | 'refused'
  /** When the entry's next run is due, also when the turn is gone; null: there is none, or it was refused. */
  nextDueAt: number | null
}

/** How often a run was under way when its owner went without a word, counting this time. */
export interface Mark {
  key: string
  slot: number | null
  /** The turn that the run was taken with. */
  turn: number
  crashes: number
}

export interface MarkAnswer {
  /** As of a settle. */
  result: 'marked' | 'gone' | 'refused'
  /** As of a settle. */
  nextDueAt: number | null
}

export interface Entries {
  /** Creates the pool, or refuses other fixed settings with `pool_mismatch`. [E1] [E5] [T5] [M13] */
  open(settings: PoolSettings): Promise<void>
  /** Applies each request whole, in order, by the put table, durably before it answers. [M1–M9] [R1–R4] [P1] */
  put(pool: string, requests: PutRequest[]): Promise<PutResponse[]>
  /** Removes an entry, or with slot `undefined` every entry of the key. [C1] */
  cancel(pool: string, name: { key: string; slot?: number | null }): Promise<CancelAnswer>
  /** Moves an entry to another time in one step, unless it is due, or the new slot is taken or has fired. [C2] */
  reschedule(pool: string, change: Reschedule): Promise<RescheduleAnswer>
  /** Reads due runs; writes nothing. [D1–D3] [D5] [P2] */
  take(pool: string, request: TakeRequest): Promise<Taken>
  /** Settles runs by turn, each fenced by its entry's partition. [S1–S9] [P3] [F2] */
  settle(pool: string, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]>
  /** Writes the crashes of runs by turn, fenced as a settle is, and nothing else; each entry is named once. [X41] [F2] */
  mark(pool: string, marks: Mark[], claim: Claim): Promise<MarkAnswer[]>
}

export interface EntryQuery {
  key?: string
  /** Keys that begin with this text. */
  prefix?: string
  /** The group of their puts. */
  group?: string
  /** Due at or after. */
  dueFrom?: number
  /** Due before. */
  dueBefore?: number
  state?: EntryState
  limit: number
  /** Where the previous page ended. */
  after?: EntryCursor
}

/** The order of a listing: by dueAt, then key, then slot. */
export interface EntryCursor {
  dueAt: number
  key: string
  slot: number | null
}

export interface Browse {
  /** One entry; null: absent. [B1] */
  get(pool: string, name: { key: string; slot: number | null }): Promise<Entry | null>
  /** A page of entries by (dueAt, key, slot), and the store's time. [B2] [B3] */
  list(pool: string, query: EntryQuery): Promise<{ now: number; entries: Entry[] }>
  /** How many entries the pool holds, by state. [B4] */
  count(pool: string): Promise<Record<EntryState, number>>
  /** The newest deaths first. [S7] */
  deaths(pool: string, limit: number): Promise<Death[]>
  /** Every pool of the store by name, also those that are not open. [Z7] */
  pools(): Promise<StoredPool[]>
  /** The pool of this name, also if it is not open; null: there is none. Costs the same however many there are. [Z7] */
  pool(name: string): Promise<StoredPool | null>
}

/** The record of a death, without its payloads, which may be large. */
export interface DeathRecord extends Omit<Death, 'payload' | 'payloads'> {
  id: number
  state: DeathState
}

/** What a death keeps of its puts, as JSON texts. */
export type DeathPayloads = Pick<Death, 'payload' | 'payloads'>

/** The order of a listing of deaths: by time, then number, the greatest first. */
export interface DeathCursor {
  diedAt: number
  id: number
}

export interface DeathQuery {
  key?: string
  /** Died at or after. */
  from?: number
  /** Died before. */
  before?: number
  limit: number
  /** Where the previous page ended. */
  after?: DeathCursor
}

export interface RemovedDead {
  deaths: number
  /** Dead entries that went with the last of their records. */
  entries: number
}

/** What was given up. A record that is not there is passed over. */
export interface DeadStore {
  /** A page of records, the newest first. [Z1] */
  list(pool: string, query: DeathQuery): Promise<DeathRecord[]>
  /** The payloads of records that are there, by number. */
  payloads(pool: string, ids: readonly number[]): Promise<Map<number, DeathPayloads>>
  /** Makes the entries due now that are dead by these deaths; answers how many. [S10] */
  redrive(pool: string, ids: readonly number[]): Promise<number>
  /** Removes records, and each dead entry with the last of its own. [S11] */
  remove(pool: string, ids: readonly number[]): Promise<RemovedDead>
  /** Removes up to `limit` records that were kept for long enough, of any pool; answers of which ones. [Z4] */
  purge(limit: number): Promise<{ pool: string; deaths: number }[]>
}

/** How long what a run told is kept at most. [Z5] */
export const PROGRESS_FOR_MS = 24 * 3_600_000

/** What a run tells of itself while it is under way. */
export interface ToldProgress {
  key: string
  slot: number | null
  turn: number
  /** JSON text. */
  progress: string
}

export interface ProgressStore {
  /** Keeps what runs told whose turns are there, each fenced by its entry's partition; answers how many. [Z5] [F2] */
  tell(pool: string, told: readonly ToldProgress[], claim: Claim): Promise<number>
  /** What the run of an entry's turn told last, and when; null: nothing. [Z5] */
  read(
    pool: string,
    name: { key: string; slot: number | null },
  ): Promise<{ progress: string; toldAt: number } | null>
  /** Removes up to `limit` values that were told more than a day ago; answers how many. [Z5] */
  sweep(limit: number): Promise<number>
}

/** What steers a pool, as it was last written. */
export interface Controlled {
  /** The store's clock at the read. */
  now: number
  /** Grows with every write; 0: nothing was ever written. */
  version: number
  control: Control
}

/** Pause, limits, shares and the last cancels. Every pulse tells the version of each pool that it is asked for. */
export interface ControlStore {
  /** What was last written; if nothing was, what every pool begins with. [L11] */
  read(pool: string): Promise<Controlled>
  /** Writes if the version is still this one, durably, and answers the new version; null: it is another. [L11] */
  write(pool: string, version: number, control: Control): Promise<number | null>
}

export interface PoolStore {
  readonly entries: Entries
  readonly browse: Browse
  readonly dead: DeadStore
  readonly progress: ProgressStore
  readonly control: ControlStore
  /** How many calls of `put` it works on at once; more of them wait for each other. */
  readonly putsAtOnce: number
}
