// What one statement puts: a batch in which no entry stands twice, as columns, and its answers out of the store's notes.
import type { Lane, Mode } from '../../pool/entry.ts'
import { CONFLICT_RULES } from '../../pool/entry.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import type { Put, PutAnswer, PutResult } from '../../pool/merge.ts'
import { hashOf } from '../../partition.ts'
import { numberArray, textArray } from './arrays.ts'
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

/** What came of a put, by the last bits of its note; put.sql says what each is. */
const RESULTS: PutResult[] = [
  'created',
  'created',
  'merged',
  'replaced',
  'kept',
  'merged',
  'replaced',
  'kept',
]
/** Stands between payloads: JSON holds no control character, and no text of it is empty. */
export const SEPARATOR = '\u001f'

/**
 * Splits puts so that no entry stands twice in one part; the parts are put one after the other. In mode each a put
 * without a time has the slot now, which may be that of another put of its key.
 */
export function splitRounds(puts: readonly Put[], mode: Mode): PlacedPut[][] {
  const timeless = new Set(mode === 'each' ? puts.filter(({ at }) => at === null).map(({ key }) => key) : [])
  const seen = new Map<string, number>()
  const rounds: PlacedPut[][] = [[]]
  for (const [nth, put] of puts.entries()) {
    const name = mode === 'one' || timeless.has(put.key) ? put.key : `${put.key}\0${put.at}`
    const round = seen.get(name) ?? 0
    seen.set(name, round + 1)
    const placed = rounds[round]
    if (placed === undefined) rounds.push([{ put, nth }])
    else placed.push({ put, nth })
  }
  return rounds
}

/** Parameters 7 to 20 of the query `put`. */
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
    isPlain ? null : numberArray(placed.map(({ put, nth }) => nth * 64 + ruleOf(put, mode))),
    lane,
    rule,
    partitions,
    isOneTime ? first?.at : null,
    puts.every(({ longestWaitMs }) => longestWaitMs === undefined)
      ? null
      : numberArray(puts.map(({ longestWaitMs }) => longestWaitMs ?? null)),
  ]
}

/** Its place among the rules × 8. In mode each a slot that exists is kept, whatever the rule. */
function ruleOf(put: Put | undefined, mode: Mode): number {
  return 8 * CONFLICT_RULES.indexOf(mode === 'each' ? 'keep' : (put?.onConflict ?? 'earliest'))
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
    for (const { nth } of placed) answers[nth] = answerOf(-1 - first, 0, noted)
    return
  }
  // Those that the store noted need not be guessed first.
  if (notes.length < placed.length) {
    for (const { put, nth } of placed) {
      const latest = now + (put.longestWaitMs ?? Infinity)
      answers[nth] = { result: 'created', dueAt: Math.min(Math.max(put.at ?? now, now), latest), tally: 1 }
    }
  }
  for (const [index, note] of notes.entries()) answers[note >> 6] = answerOf(note & 7, index, noted)
}

function answerOf(came: number, index: number, { numbers, tallies }: Noted): PutAnswer {
  return {
    result: RESULTS[came] as PutResult,
    dueAt: (numbers[index] ?? numbers[0]) as number,
    tally: (tallies[index] ?? tallies[0]) as number,
  }
}
