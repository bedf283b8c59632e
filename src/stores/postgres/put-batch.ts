// What one statement puts: a batch in which no entry stands twice, as columns, and its answers out of the store's notes.
import type { Mode } from '../../pool/entry.ts'
import { CONFLICT_RULES } from '../../pool/entry.ts'
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
  mode: Mode
  partitions: number
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
const KEEP = CONFLICT_RULES.indexOf('keep')

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

/** Parameters 7 to 15 of the query `put`. */
export function columnsOf(pool: PutPool, placed: readonly PlacedPut[]): unknown[] {
  const puts = placed.map(({ put }) => put)
  const hashes = puts.map(({ key }) => hashOf(key))
  const partitions = puts.map(
    ({ key, group }, index) => (group === key ? (hashes[index] as number) : hashOf(group)) % pool.partitions,
  )
  return [
    pool.mode === 'each',
    textArray(puts.map(({ key }) => key)),
    numberArray(puts.map(({ at }) => at)),
    textArray(puts.map(({ payload }) => payload ?? null)),
    numberArray(puts.map(({ lane }) => laneColumn(lane))),
    textArray(puts.map(({ key, group }) => (group === key ? null : group))),
    numberArray(partitions),
    numberArray(hashes),
    numberArray(placed.map((each) => noteOf(each, pool.mode))),
  ]
}

/** Its place × 64 + its rule × 8. In mode each a slot that exists is kept, whatever the rule. */
function noteOf({ put, nth }: PlacedPut, mode: Mode): number {
  const rule = mode === 'each' ? KEEP : CONFLICT_RULES.indexOf(put.onConflict)
  return nth * 64 + rule * 8
}

/** Fills in the answers of one round: of those created by the time, of the others by what the store noted. */
export function readAnswers(
  answers: PutAnswer[],
  placed: readonly PlacedPut[],
  noted: { now: number; answers: string },
): void {
  for (const { put, nth } of placed) {
    answers[nth] = { result: 'created', dueAt: Math.max(put.at ?? noted.now, noted.now), tally: 1 }
  }
  if (noted.answers === '') return
  for (const text of noted.answers.split(' ')) {
    const [nth = 0, code = 0, dueAt = 0, tally = 0] = text.split(':').map(Number)
    answers[nth] = { result: RESULTS[code] as PutResult, dueAt, tally }
  }
}
