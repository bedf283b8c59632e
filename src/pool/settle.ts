// What settling a run does to its entry. Pure; every store calls it or is compared with it.
// Rules [S1] to [S11] of docs/spec/pool.md.
import type { Entry, PlannedRun } from './entry.ts'

/** How a run ended. `again` and `retry` carry when to run next; the caller computes back-off. */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'again'; dueAt: number }
  | { kind: 'retry'; dueAt: number; error?: string | null }
  | { kind: 'dead'; reason: string; error: string | null }
  | { kind: 'cancel' }

export interface Settlement {
  key: string
  slot: number | null
  /** The turn that the run was taken with. */
  turn: number
  /** The tally that the run was taken with. */
  seen: number
  outcome: Outcome
  /** How many payloads the run was taken with, in a pool that keeps them all. */
  seenPayloads?: number
  /** Where the take met it: a hint, which the store gave. */
  place?: string
}

/** The record of puts whose last attempt failed. */
export interface Death {
  key: string
  slot: number | null
  /** The group of the entry. */
  group: string
  payload: string | null
  seen: number
  reason: string
  error: string | null
  diedAt: number
  /** Those that the run saw, in a pool that keeps them all. */
  payloads?: readonly string[]
}

export interface Settled {
  /** The entry as it is now; null: nothing is left of it. */
  entry: Entry | null
  death: Death | null
}

export interface SettleContext {
  /** The store's clock, read under the lock. */
  now: number
  newTurn: () => number
  /** How long the key rests after its run; left out: not at all. [M11] */
  restMs?: number
}

/** Applies an outcome to the entry that holds the settlement's turn; the store has checked that it does. */
export function settle(entry: Entry, settlement: Settlement, context: SettleContext): Settled {
  const { outcome } = settlement
  switch (outcome.kind) {
    case 'cancel':
      return { entry: null, death: null }
    case 'retry':
      return { entry: backOff(entry, outcome, context), death: null }
    case 'dead':
      return die(entry, settlement, outcome, context)
    case 'done':
      return { entry: goOn(entry, settlement.seen, null, context), death: null }
    case 'again':
      return { entry: goOn(entry, settlement.seen, outcome.dueAt, context), death: null }
  }
}

/** Failure touches only next: `after` and the tally stay, or a hot key would have no back-off. */
function backOff(
  entry: Entry,
  { dueAt, error: lastError = null }: { dueAt: number; error?: string | null },
  { now, newTurn }: SettleContext,
): Entry {
  const next = { ...entry.next, dueAt: Math.max(now, dueAt) }
  return { ...entry, next, turn: newTurn(), attempt: entry.attempt + 1, crashes: 0, lastError }
}

/**
 * Plans what is left: the puts that came since the take, `after`, and the handler's own next time. When the
 * tally has grown the handler's answer is dropped, because the repeat answers again.
 */
function goOn(
  entry: Entry,
  seen: number,
  againAt: number | null,
  { now, newTurn, restMs = 0 }: SettleContext,
): Entry | null {
  const rest = entry.next.tally - seen
  const from = now + restMs
  const candidates: PlannedRun[] = []
  const { payload } = entry.next
  if (rest > 0) candidates.push({ dueAt: from, tally: rest, payload })
  if (entry.after !== null) candidates.push({ ...entry.after, dueAt: Math.max(from, entry.after.dueAt) })
  if (againAt !== null && rest <= 0) {
    candidates.push({ dueAt: Math.max(from, againAt), tally: 0, payload })
  }
  candidates.sort((a, b) => a.dueAt - b.dueAt)
  const [next, after] = candidates
  if (next === undefined) return null
  const fresh = { turn: newTurn(), attempt: 0, crashes: 0, failing: false, lastError: null }
  return { ...entry, next, after: after ?? null, ...fresh }
}

/** Until when the key rests after a run that ended so; null: as before, since a retry is the same run. [M11] [M12] */
export function restsUntil(kind: Outcome['kind'], { now, restMs = 0 }: SettleContext): number | null {
  if (restMs === 0 || kind === 'retry') return null
  return kind === 'cancel' ? 0 : now + restMs
}

/** A dead entry that is to run again, for no put of anybody. [S10] */
export function redrive(entry: Entry, { now, newTurn }: SettleContext): Entry {
  const next = { ...entry.next, dueAt: now }
  return { ...entry, next, turn: newTurn(), attempt: 0, crashes: 0, state: 'live' }
}

/** Only the seen tally dies; what was put since, or waits in `after`, goes on. */
function die(
  entry: Entry,
  settlement: Settlement,
  outcome: { reason: string; error: string | null },
  context: SettleContext,
): Settled {
  const death: Death = {
    key: entry.key,
    slot: entry.slot,
    group: entry.group,
    payload: entry.next.payload,
    seen: settlement.seen,
    reason: outcome.reason,
    error: outcome.error,
    diedAt: context.now,
  }
  const alive = goOn(entry, settlement.seen, null, context)
  const failed = { failing: true, lastError: outcome.error }
  if (alive !== null) return { entry: { ...alive, ...failed }, death }
  const { dueAt, payload } = entry.next
  const next = { dueAt, tally: 0, payload }
  const [turn, attempt] = [context.newTurn(), entry.attempt + 1]
  return { entry: { ...entry, next, turn, attempt, crashes: 0, state: 'dead', ...failed }, death }
}

export const DEATH_STATES = ['dead', 'retrying', 'recovered'] as const
/** What became of the entry since its death: it is dead; it runs again, and is not done yet; it was done, or removed. */
export type DeathState = (typeof DEATH_STATES)[number]

/** What became of a death, by its entry as it is now. [Z8] */
export function deathState(entry: Pick<Entry, 'state' | 'failing'> | null | undefined): DeathState {
  if (entry?.state === 'dead') return 'dead'
  return entry?.failing === true ? 'retrying' : 'recovered'
}
