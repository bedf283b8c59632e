// Settlements as columns of the statement, and its answer as theirs.
import type { Outcome, Settlement } from '../../pool/settle.ts'
import type { SettleAnswer } from '../../pool/store.ts'
import { numberArray, textArray } from './arrays.ts'
import { SETTLE_RESULT, SETTLE_STEP } from './codes.ts'
import type { Row } from './connections.ts'
import { slotColumn } from './rows.ts'

const RESULTS = Object.keys(SETTLE_RESULT) as SettleAnswer['result'][]
/** Settled, with nothing left. */
export const SETTLED: SettleAnswer = Object.freeze({ result: 'settled', nextDueAt: null })
/** The server fills a column that is too short with nulls. */
const NOTHING = '{}'

/** Key, slot, turn, seen tally, outcome, its time, reason and error. Most have none of the last three. */
export function settlementColumns(settlements: readonly Settlement[]): string[] {
  const outcomes = settlements.map(({ outcome }) => outcome)
  return [
    textArray(settlements.map(({ key }) => key)),
    numberArray(settlements.map(({ slot }) => slotColumn(slot))),
    numberArray(settlements.map(({ turn }) => turn)),
    numberArray(settlements.map(({ seen }) => seen)),
    textArray(outcomes.map(({ kind }) => kind)),
    outcomes.some((each) => 'dueAt' in each) ? numberArray(outcomes.map(dueAtOf)) : NOTHING,
    outcomes.some(({ kind }) => kind === 'dead')
      ? textArray(outcomes.map((each) => ('reason' in each ? withoutNul(each.reason) : null)))
      : NOTHING,
    outcomes.some((each) => 'error' in each)
      ? textArray(outcomes.map((each) => ('error' in each ? withoutNul(each.error ?? null) : null)))
      : NOTHING,
  ]
}

/** One for each settlement; the row leaves out those that are settled with nothing left. */
export function settleAnswers(row: Row | undefined, count: number): SettleAnswer[] {
  const answers = Array.from({ length: count }, (): SettleAnswer => SETTLED)
  const nths = (row?.['nths'] ?? []) as number[]
  const results = row?.['results'] as number[]
  const dueAts = row?.['next_due_ats'] as (number | null)[]
  for (const [index, nth] of nths.entries()) {
    const result = RESULTS[results[index] as number] as SettleAnswer['result']
    answers[nth - 1] = { result, nextDueAt: dueAts[index] ?? null }
  }
  return answers
}

/** Which step each took; null: none. Those that the row leaves out have nothing left, or are dead. */
export function settleSteps(row: Row | undefined, settlements: readonly Settlement[]): (number | null)[] {
  const { die, remove } = SETTLE_STEP
  const steps = settlements.map(({ outcome }): number | null => (outcome.kind === 'dead' ? die : remove))
  const named = row?.['steps'] as (number | null)[]
  for (const [index, nth] of ((row?.['nths'] ?? []) as number[]).entries())
    steps[nth - 1] = named[index] ?? null
  return steps
}

function dueAtOf(outcome: Outcome): number | null {
  return 'dueAt' in outcome ? outcome.dueAt : null
}

/** What a handler threw may hold a NUL, which the server refuses, and with it every settlement of the batch. */
function withoutNul(text: string | null): string | null {
  return text?.replaceAll('\0', '\uFFFD') ?? null
}

/** Parts of those at these places, in which no entry stands twice, and no more than so many. */
export function splitRepeated(
  settlements: readonly Settlement[],
  places: readonly number[],
  most: number,
): number[][] {
  const seen = new Map<string, number>()
  const parts: number[][] = []
  for (const nth of places) {
    const { key, slot } = settlements[nth] as Settlement
    const name = `${slot}\0${key}`
    let part = seen.get(name) ?? 0
    while ((parts[part]?.length ?? 0) >= most) part += 1
    seen.set(name, part + 1)
    parts[part] ??= []
    parts[part]?.push(nth)
  }
  return parts
}
