// What one statement puts: a batch in which no entry stands twice, as columns, and its answers out of the store's notes.
import type { Lane, Mode } from '../../pool/entry.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import { type Put, type PutAnswer, askedAt } from '../../pool/merge.ts'
import { hashOf } from '../../partition.ts'
import { numberArray, textArray } from './arrays.ts'
import { NOTE, PUT_RESULTS, type PutStep, RULE } from './codes.ts'
import { laneColumn } from './rows.ts'

/** A put and its place among all puts of its request. */
export interface PlacedPut {
  put: Put
  nth: number
}

export interface PutPool {
  id: number
  name: string
  mode: Mode
  partitions: number
  /** Of puts that name none. */
  lane: Lane
  payloads: KeptPayloads
}

/** Stands between payloads: JSON holds no control character, and no text of it is empty. */
export const SEPARATOR = '\u001f'

/**
 * Splits puts so that no entry stands twice in the first part; the second, if there is one, is what repeats them. In mode each
 * a put without a time, or with one after now, has a slot that is not known yet, which may be that of another put of its key.
 */
export function splitRounds(puts: readonly Put[], mode: Mode): PlacedPut[][] {
  const timeless = new Set(mode === 'each' ? puts.filter(({ at }) => at === null).map(({ key }) => key) : [])
  const seen = new Set<string>()
  const [firsts, repeats]: [PlacedPut[], PlacedPut[]] = [[], []]
  for (const [nth, put] of puts.entries()) {
    const name = mode === 'one' || timeless.has(put.key) ? put.key : `${put.key}\0${put.at}`
    if (seen.has(name)) repeats.push({ put, nth })
    else firsts.push({ put, nth })
    seen.add(name)
  }
  return repeats.length === 0 ? [firsts] : [firsts, repeats]
}

/** Parameters 7 to 21 of the query `put`. */
export function columnsOf(pool: PutPool, placed: readonly PlacedPut[]): unknown[] {
  const { mode, partitions } = pool
  const puts = placed.map(({ put }) => put)
  const [first] = puts
  const isOneTime = puts.every(({ at }) => at === first?.at)
  const laneOf = (put: Put): number => laneColumn(put.lane ?? pool.lane)
  const lane = first === undefined ? laneColumn(pool.lane) : laneOf(first)
  const rule = ruleOf(first, mode)
  const hasGroups = puts.some(({ key, group }) => group !== key)
  const isPlain = placed.every(({ put, nth }, index) => nth === index && ruleOf(put, mode) === rule)
  return [
    mode === 'each',
    textArray(puts.map(({ key }) => key)),
    isOneTime ? null : numberArray(puts.map(({ at }) => at)),
    puts.every(({ payload }) => payload === undefined)
      ? null
      : puts.map(({ payload = '' }) => payload).join(SEPARATOR),
    puts.every((put) => laneOf(put) === lane) ? null : numberArray(puts.map(laneOf)),
    hasGroups ? textArray(puts.map(({ key, group }) => (group === key ? null : group))) : null,
    hasGroups ? numberArray(puts.map(({ group }) => hashOf(group) % partitions)) : null,
    numberArray(puts.map(({ key }) => hashOf(key))),
    isPlain ? null : numberArray(placed.map(({ put, nth }) => nth * NOTE.place + ruleOf(put, mode))),
    lane,
    rule,
    partitions,
    isOneTime ? first?.at : null,
    puts.every(({ longestWaitMs }) => longestWaitMs === undefined)
      ? null
      : numberArray(puts.map(({ longestWaitMs }) => longestWaitMs ?? null)),
    puts.every(({ inMs }) => inMs === undefined) ? null : numberArray(puts.map(({ inMs }) => inMs ?? null)),
  ]
}

/** In mode each a slot that exists is kept, whatever the rule. */
function ruleOf(put: Put | undefined, mode: Mode): number {
  return RULE[mode === 'each' ? 'keep' : (put?.onConflict ?? 'earliest')]
}

/** Of which put of its request a note is, and what that did. */
export function readNote(note: number): { nth: number; step: PutStep } {
  return { nth: Math.floor(note / NOTE.place), step: (note & NOTE.steps) as PutStep }
}

/** What the store noted of one round. */
export interface Noted {
  now: number
  /** Of each put: its place and what came of it. One below zero: that came of all, with one due time and tally. */
  notes: readonly number[]
  /** Their due times; one: it is that of all. */
  numbers: readonly number[]
  /** Their tallies; one: it is that of all. */
  tallies: readonly number[]
}

/** Fills in the answers of one round: of those created by the time, of the others by what the store noted. */
export function readAnswers(answers: PutAnswer[], placed: readonly PlacedPut[], noted: Noted): void {
  const { now, notes } = noted
  const [first = 0] = notes
  if (first < 0) {
    for (const { nth } of placed) answers[nth] = answerOf((-1 - first) as PutStep, 0, noted)
    return
  }
  // Those that the store noted need not be guessed first.
  if (notes.length < placed.length) {
    for (const { put, nth } of placed) {
      const latest = now + (put.longestWaitMs ?? Infinity)
      const dueAt = Math.min(Math.max(askedAt(put, now), now), latest)
      answers[nth] = { result: 'created', dueAt, tally: 1 }
    }
  }
  for (const [index, note] of notes.entries()) {
    const { nth, step } = readNote(note)
    answers[nth] = answerOf(step, index, noted)
  }
}

function answerOf(step: PutStep, index: number, { numbers, tallies }: Noted): PutAnswer {
  return {
    result: PUT_RESULTS[step],
    dueAt: (numbers[index] ?? numbers[0]) as number,
    tally: (tallies[index] ?? tallies[0]) as number,
  }
}
