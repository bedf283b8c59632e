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

/** Parameters 7 to 14 of the query `put`. */
export function columnsOf(pool: PutPool, placed: readonly PlacedPut[]): unknown[] {
  const { mode, partitions } = pool
  const columns = new Columns()
  for (const { put, nth } of placed) {
    const { key, group } = put
    const hash = hashOf(key)
    const partition = (group === key ? hash : hashOf(group)) % partitions
    columns.keys.push(key)
    columns.times.push(put.at)
    columns.payloads.push(put.payload ?? null)
    columns.places.push(partition * 4 + laneColumn(put.lane))
    columns.groups.push(group === key ? null : group)
    columns.hashes.push(hash)
    // In mode each a slot that exists is kept, whatever the rule.
    const rule = mode === 'each' ? KEEP : CONFLICT_RULES.indexOf(put.onConflict)
    columns.notes.push(nth * 64 + rule * 8)
  }
  return [mode === 'each', ...columns.parameters()]
}

class Columns {
  readonly keys: string[] = []
  readonly times: (number | null)[] = []
  readonly payloads: (string | null)[] = []
  readonly places: number[] = []
  readonly groups: (string | null)[] = []
  readonly hashes: number[] = []
  readonly notes: number[] = []

  parameters(): (string | null)[] {
    return [
      textArray(this.keys),
      orNull(this.times, numberArray),
      orNull(this.payloads, textArray),
      numberArray(this.places),
      orNull(this.groups, textArray),
      numberArray(this.hashes),
      numberArray(this.notes),
    ]
  }
}

/** A column in which nothing is said need not be sent. */
function orNull<Value>(
  values: readonly (Value | null)[],
  write: (values: readonly (Value | null)[]) => string,
): string | null {
  return values.every((value) => value === null) ? null : write(values)
}

/** Fills in the answers of one round: of those created by the time, of the others by what the store noted. */
export function readAnswers(
  answers: PutAnswer[],
  placed: readonly PlacedPut[],
  noted: { now: number; answers: readonly number[] },
): void {
  for (const { put, nth } of placed) {
    answers[nth] = { result: 'created', dueAt: Math.max(put.at ?? noted.now, noted.now), tally: 1 }
  }
  const count = noted.answers.length / 3
  for (let index = 0; index < count; index += 1) {
    const note = noted.answers[index] as number
    answers[note >> 6] = {
      result: RESULTS[note & 7] as PutResult,
      dueAt: noted.answers[count + index] as number,
      tally: noted.answers[2 * count + index] as number,
    }
  }
}
