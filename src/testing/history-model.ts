// What the calls of one entry must be answered, and lead to, by the times of the calls. A second, smaller writing of the
// rules: it shares no code with merge.ts, settle.ts and reschedule.ts, so that it does not share their mistakes.
import type { LogEvent } from '../log/store.ts'
import type { Mode, OnConflict, TakenRun } from '../pool/entry.ts'
import type { Put, PutAnswer } from '../pool/merge.ts'
import type { Settlement } from '../pool/settle.ts'
import type { Mark, MarkAnswer } from '../pool/store.ts'

export interface ModelRun {
  dueAt: number
  tally: number
  /** The lowest dueAt that was answered to a put in this tally. */
  lowest: number
  /** Since when puts with a longest wait put it off. [M10] */
  since?: number
}

export interface ModelEntry {
  next: ModelRun
  after: ModelRun | null
  /** How often the next run has failed. */
  attempt: number
  /** With how many crashes it is marked. */
  crashes: number
  dead: boolean
  /** The turn that the last take gave; null: planned anew since. */
  turn: number | null
}

export function planEntry(answer: PutAnswer, put: ModelPut): ModelEntry {
  return { next: planRun(answer, put, null), after: null, attempt: 0, crashes: 0, dead: false, turn: null }
}

function planRun({ dueAt, tally }: PutAnswer, put: ModelPut, replaced: ModelRun | null): ModelRun {
  const since = replaced?.since ?? (put.longestWaitMs === undefined ? undefined : put.now)
  return { dueAt, tally, lowest: dueAt, ...(since === undefined ? {} : { since }) }
}

export type AskedPut = Pick<Put, 'key' | 'at' | 'inMs' | 'onConflict' | 'longestWaitMs'>

export interface ModelPut {
  at: number | null
  onConflict: OnConflict
  mode: Mode
  now: number
  /** Until when the key rests; 0: it does not. [M11] */
  restsUntil: number
  longestWaitMs?: number
}

/** What must be answered, and the rule that says so. */
export type Expected = PutAnswer & { rule: string }

/** What a put must be answered. */
export function expectPut(entry: ModelEntry | undefined, put: ModelPut): Expected {
  const { onConflict, mode, now, restsUntil } = put
  const within = (since = now): number => {
    const latest = put.longestWaitMs === undefined ? Infinity : since + put.longestWaitMs
    return notPast(notPast(Math.min(put.at ?? now, latest), now), restsUntil)
  }
  const dueAt = within()
  if (entry === undefined) return { rule: 'M1', result: 'created', dueAt, tally: 1 }
  if (entry.dead) return { rule: 'M2', result: 'created', dueAt, tally: 1 }
  const { next, after } = entry
  if (mode === 'each' || onConflict === 'keep')
    return { rule: 'M8', result: 'kept', dueAt: next.dueAt, tally: next.tally }
  const isWaiting = next.dueAt > now && entry.attempt === 0
  if (!isWaiting && (put.at ?? now) <= now)
    return { rule: 'M6', result: 'merged', dueAt: next.dueAt, tally: next.tally + 1 }
  const run = isWaiting ? next : after
  if (run === null) return { rule: 'M7', result: 'merged', dueAt, tally: 1 }
  if (onConflict === 'replace')
    return { rule: isWaiting ? 'M5' : 'M7', result: 'replaced', dueAt: within(run.since), tally: 1 }
  const earlier = run.dueAt < dueAt ? run.dueAt : dueAt
  return { rule: isWaiting ? 'M4' : 'M7', result: 'merged', dueAt: earlier, tally: run.tally + 1 }
}

/** Nothing writes a dueAt in the past. [M3] */
export function notPast(at: number, now: number): number {
  return at < now ? now : at
}

/** Puts on an entry that lives, as it must be answered. */
export function modelPut(entry: ModelEntry, put: ModelPut, answer: PutAnswer): void {
  const { at, now } = put
  const isWaiting = entry.next.dueAt > now && entry.attempt === 0
  const isLater = (at ?? now) > now
  if (isWaiting && answer.result === 'replaced') {
    entry.next = planRun(answer, put, entry.next)
    entry.turn = null
  } else if (isWaiting || !isLater) {
    join(entry.next, answer)
  } else if (entry.after === null || answer.result === 'replaced') {
    entry.after = planRun(answer, put, entry.after)
  } else {
    join(entry.after, answer)
  }
}

function join(run: ModelRun, answer: PutAnswer): void {
  run.tally += 1
  run.dueAt = answer.dueAt
  run.lowest = Math.min(run.lowest, answer.dueAt)
}

/** Moves the next run whole to another time; answers what must be answered. [C2] */
export function modelMove(
  entry: ModelEntry,
  { at, now, restsUntil }: { at: number; now: number; restsUntil: number },
): Expected {
  const dueAt = notPast(notPast(at, now), restsUntil)
  entry.next = { ...entry.next, dueAt, lowest: dueAt }
  entry.turn = null
  return { rule: 'C2', result: 'replaced', dueAt, tally: entry.next.tally }
}

/**
 * Settles the next run, whose time had come, though a clock that was set back may show an earlier one; none of the entry is
 * due before `freeAt`. Answers false when nothing of the entry is left.
 */
function modelSettle(
  entry: ModelEntry,
  settlement: Ended,
  { now, freeAt }: { now: number; freeAt: number },
): boolean {
  const { outcome, seen } = settlement
  entry.turn = null
  entry.crashes = 0
  if (outcome.kind === 'cancel') return false
  if (outcome.kind === 'retry') {
    const dueAt = Math.max(now, outcome.dueAt)
    entry.next = { ...entry.next, dueAt, lowest: Math.min(dueAt, entry.next.lowest) }
    entry.attempt += 1
    return true
  }
  const rest = entry.next.tally - seen
  const again = outcome.kind === 'again' && rest <= 0 ? planAgain(outcome.dueAt, freeAt) : null
  const after = entry.after === null ? null : { ...entry.after, dueAt: Math.max(freeAt, entry.after.dueAt) }
  const since = rest > 0 ? { dueAt: freeAt, tally: rest, lowest: Math.min(freeAt, entry.next.lowest) } : null
  const planned = [since, after, again].filter((run) => run !== null).toSorted((a, b) => a.dueAt - b.dueAt)
  const [next, then] = planned
  entry.attempt = 0
  if (next !== undefined) {
    entry.next = next
    entry.after = then ?? null
    return true
  }
  entry.dead = outcome.kind === 'dead'
  entry.next.tally = 0
  return entry.dead
}

/** Makes a dead entry due now, for no put of anybody. [S10] */
export function modelRedrive(entry: ModelEntry, now: number): void {
  entry.next = { dueAt: now, tally: 0, lowest: now }
  entry.attempt = 0
  entry.crashes = 0
  entry.dead = false
  entry.turn = null
}

/** Marks the next run, if that is the one; answers what is wrong with what was answered. [X41] */
export function modelMark(
  entry: ModelEntry | undefined,
  { turn, crashes }: Mark,
  { result, nextDueAt }: MarkAnswer,
): Wrong[] {
  const isThere = entry !== undefined && !entry.dead && entry.turn === turn
  // By a fence that is another's, which whoever checks fences looks after.
  if (result === 'refused') return []
  if (result === 'marked' && isThere) entry.crashes = crashes
  const dueAt = entry === undefined || entry.dead ? null : entry.next.dueAt
  return wrongOf([
    [
      (result === 'marked') !== isThere,
      'X41',
      `was answered ${result}, and is ${isThere ? '' : 'not '}there`,
    ],
    [nextDueAt !== dueAt, 'X41', `tells ${nextDueAt}, and it is due at ${dueAt}`],
  ])
}

function planAgain(dueAt: number, now: number): ModelRun {
  const at = Math.max(now, dueAt)
  return { dueAt: at, tally: 0, lowest: at }
}

export function tallyOf(entry: ModelEntry): number {
  return entry.next.tally + (entry.after?.tally ?? 0)
}

type Ended = Pick<Settlement, 'seen' | 'outcome'>

/** Until when keys rest after their runs. [M11] [M12] */
export class ModelRests {
  throttleMs = 0
  readonly #until = new Map<string, number>()

  /** 0: it does not rest. */
  of(name: string): number {
    return this.throttleMs === 0 ? 0 : (this.#until.get(name) ?? 0)
  }

  forget(names: readonly string[]): void {
    for (const name of names) this.#until.delete(name)
  }

  /** Settles the next run of an entry, and has its key rest; answers false when nothing of the entry is left. */
  settle(name: string, entry: ModelEntry, settlement: Ended, now: number): boolean {
    const freeAt = now + this.throttleMs
    const { kind } = settlement.outcome
    if (kind === 'cancel') this.#until.delete(name)
    else if (kind !== 'retry') this.#until.set(name, freeAt)
    return modelSettle(entry, settlement, { now, freeAt })
  }
}

interface Wrong {
  rule: string
  what: string
}

/** What is wrong with a run that a take answered. */
export function wrongWithTake(run: TakenRun, { next, attempt, crashes }: ModelEntry, now: number): Wrong[] {
  const early = next.lowest - now
  return wrongOf([
    [run.dueAt !== next.dueAt, 'P2', `was taken as due at ${run.dueAt}, and is due at ${next.dueAt}`],
    [early > 0 && next.tally > 0, 'P1', `was taken ${early} ms before any of its puts was due`],
    [run.seen !== next.tally, 'P4', `was taken with a tally of ${run.seen}, and ${next.tally} puts wait`],
    [run.attempt !== attempt, 'S5', `was taken after ${run.attempt} failures, and failed ${attempt} times`],
    [run.crashes !== crashes, 'X42', `was taken with ${run.crashes} crashes, and is marked with ${crashes}`],
  ])
}

function wrongOf(all: [isWrong: boolean, rule: string, what: string][]): Wrong[] {
  return all.filter(([isWrong]) => isWrong).map(([, rule, what]) => ({ rule, what }))
}

/** What is wrong with an event that a tick became, and the rule that says so. */
export function wrongWithTick(
  { id, time, value, headers }: LogEvent,
  { dueAt, mode, now }: { dueAt: number; mode: Mode; now: number },
): Wrong[] {
  const at = Date.parse(String((JSON.parse(value) as { at?: unknown }).at))
  const { lateMs } = JSON.parse(headers ?? '{}') as { lateMs?: number }
  return wrongOf([
    [dueAt > now, 'P2', `the tick ${id} moved ${dueAt - now} ms before its dueAt`],
    [time !== now, 'T2', `the tick ${id} moved by a clock ${time - now} ms off`],
    [mode === 'one' && at !== dueAt, 'T3', `the tick ${id} was due at ${dueAt}`],
    [lateMs !== now - dueAt, 'T3', `the tick ${id} tells ${lateMs} ms, and is ${now - dueAt} late`],
  ])
}

/** The name of an entry, for people. */
export function show(name: string): string {
  const [slot, key] = name.split('\0')
  return key === undefined ? name : slot === '' ? key : `${key} at ${slot}`
}
