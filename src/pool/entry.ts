// What a pool holds: entries and their runs. Types and the small questions one may ask of an entry.

export const MODES = ['one', 'each'] as const
/** `one`: an entry per key. `each`: an entry per key and `at`; every distinct `at` runs. */
export type Mode = (typeof MODES)[number]

export const LANES = ['fanout', 'normal', 'bulk'] as const
export type Lane = (typeof LANES)[number]

export const CONFLICT_RULES = ['earliest', 'replace', 'keep'] as const
/** What a put does when the key has an entry already. */
export type OnConflict = (typeof CONFLICT_RULES)[number]

/** A run that is planned: when, for how many puts, with which payload (JSON text; null: none). */
export interface PlannedRun {
  dueAt: number
  tally: number
  payload: string | null
  /** Since when puts with a longest wait put it off; left out: none has. [M10] */
  since?: number
}

export interface Entry {
  key: string
  /** The `at` that was asked for, in mode `each`; null in mode `one`. */
  slot: number | null
  /** Decides the partition; the key unless the put said otherwise. */
  group: string
  partition: number
  /** The number a settle must name; never reused in its partition. */
  turn: number
  lane: Lane
  next: PlannedRun
  after: PlannedRun | null
  /** How many attempts of the next run have failed, 0 at first; of a dead entry: all that it had. */
  attempt: number
  /** In how many crashes of its owners the next run may have been under way, as far as that was marked. [X41] */
  crashes: number
  /** `dead`: its last attempt failed and nothing is left to run. */
  state: 'live' | 'dead'
  /** Died, or went on after a death, and has not been done since. */
  failing: boolean
  /** What its last attempt failed with, until a run of it is done; null: nothing was thrown. [S12] */
  lastError: string | null
  /** When the entry was created. */
  enqueuedAt: number
  /** When it was last put. */
  putAt: number
}

export type EntryState = 'waiting' | 'due' | 'backing-off' | 'dead'

/** What an entry is at the store's `now`. */
export function stateOf(entry: Entry, now: number): EntryState {
  if (entry.state === 'dead') return 'dead'
  if (entry.next.dueAt <= now) return 'due'
  return entry.attempt > 0 ? 'backing-off' : 'waiting'
}

/** When the entry's next run is due; null: it is dead. */
export function liveDueAt(entry: Entry): number | null {
  return entry.state === 'dead' ? null : entry.next.dueAt
}

/** Whether a run taken with this turn may still be settled: the turn is current and not dead. [S1] [S7] */
export function holdsTurn(entry: Entry, turn: number): boolean {
  return entry.turn === turn && entry.state === 'live'
}

/** A run handed to its owner. */
export interface TakenRun {
  key: string
  slot: number | null
  /** Whose limits count. */
  group: string
  partition: number
  turn: number
  dueAt: number
  /** The tally to name at settle. */
  seen: number
  payload: string | null
  attempt: number
  crashes: number
  /** Of every put that it stands for, in their order, in a pool that keeps them all. [M14] */
  payloads?: readonly string[]
  /** When its entry was last put. */
  putAt: number
  /** Where the store met it, for the settle to look there first; left out: that is of no use. */
  place?: string
}

/** The run that a take answers for a due entry. */
export function takenRun({
  key,
  slot,
  group,
  partition,
  turn,
  next,
  attempt,
  crashes,
  putAt,
}: Entry): TakenRun {
  const { dueAt, tally: seen, payload } = next
  return { key, slot, group, partition, turn, dueAt, seen, payload, attempt, crashes, putAt }
}

/** An entry, or without a slot every entry of the key. */
export interface CancelledName {
  key: string
  slot?: number | null
}

/** Names an entry within its pool. Keys hold no NUL, so the text is unambiguous. */
export function entryName(key: string, slot: number | null): string {
  return `${slot ?? ''}\0${key}`
}
