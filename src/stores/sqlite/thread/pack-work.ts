// The calls of every run, takes and settles, on their way between threads: numbers side by side, which are copied in one
// piece, and texts in a list. A slot, due time or text that is not there is NaN or null.
import type { TakenRun } from '../../../pool/entry.ts'
import type { Outcome, Settlement } from '../../../pool/settle.ts'
import type { SettleAnswer, Taken } from '../../../pool/store.ts'

/** What many runs, or settlements, consist of. */
export interface Columns {
  numbers: Float64Array
  texts: (string | null)[]
  /** Of each run, in a pool that keeps all payloads; of settlements how many were seen. */
  payloads?: (readonly string[])[]
  seenPayloads?: number[]
}

const KINDS = ['done', 'again', 'retry', 'dead', 'cancel'] as const satisfies Outcome['kind'][]
const RESULTS = ['settled', 'gone', 'refused'] as const satisfies SettleAnswer['result'][]

const TAKEN_HEAD = 2
const TAKEN_NUMBERS = 8
const SETTLEMENT_NUMBERS = 5
const ANSWER_NUMBERS = 3

export function packTaken({ now, nextDueAt, runs }: Taken): Columns {
  const numbers = new Float64Array(TAKEN_HEAD + TAKEN_NUMBERS * runs.length)
  const texts: Columns['texts'] = []
  numbers[0] = now
  numbers[1] = nextDueAt ?? Number.NaN
  let place = TAKEN_HEAD
  for (const { key, slot, group, partition, turn, dueAt, seen, payload, attempt, crashes, putAt } of runs) {
    texts.push(key, group, payload)
    numbers[place++] = slot ?? Number.NaN
    numbers[place++] = partition
    numbers[place++] = turn
    numbers[place++] = dueAt
    numbers[place++] = seen
    numbers[place++] = attempt
    numbers[place++] = crashes
    numbers[place++] = putAt
  }
  if (runs[0]?.payloads === undefined) return { numbers, texts }
  return { numbers, texts, payloads: runs.map(({ payloads = [] }) => payloads) }
}

export function unpackTaken({ numbers, texts, payloads }: Columns): Taken {
  const runs: TakenRun[] = []
  let place = TAKEN_HEAD
  for (let text = 0; text < texts.length; text += 3) {
    runs.push({
      key: texts[text] as string,
      slot: orNull(numbers[place++]),
      group: texts[text + 1] as string,
      partition: numbers[place++] as number,
      turn: numbers[place++] as number,
      dueAt: numbers[place++] as number,
      seen: numbers[place++] as number,
      payload: texts[text + 2] as string | null,
      attempt: numbers[place++] as number,
      crashes: numbers[place++] as number,
      putAt: numbers[place++] as number,
    })
  }
  for (const [nth, list] of payloads?.entries() ?? []) (runs[nth] as TakenRun).payloads = list
  return { now: numbers[0] as number, runs, nextDueAt: orNull(numbers[1]) }
}

export function packSettlements(settlements: readonly Settlement[]): Columns {
  const numbers = new Float64Array(SETTLEMENT_NUMBERS * settlements.length)
  const texts: Columns['texts'] = []
  let place = 0
  for (const { key, slot, turn, seen, outcome } of settlements) {
    texts.push(key)
    if (outcome.kind === 'dead') texts.push(outcome.reason, outcome.error)
    else if (outcome.kind === 'retry') texts.push(outcome.error ?? null)
    numbers[place++] = slot ?? Number.NaN
    numbers[place++] = turn
    numbers[place++] = seen
    numbers[place++] = KINDS.indexOf(outcome.kind)
    numbers[place++] = 'dueAt' in outcome ? outcome.dueAt : Number.NaN
  }
  if (settlements.every(({ seenPayloads }) => seenPayloads === undefined)) return { numbers, texts }
  return { numbers, texts, seenPayloads: settlements.map(({ seenPayloads = 0 }) => seenPayloads) }
}

export function unpackSettlements({ numbers, texts, seenPayloads }: Columns): Settlement[] {
  const settlements: Settlement[] = []
  let text = 0
  for (let place = 0; place < numbers.length; place += SETTLEMENT_NUMBERS) {
    const kind = KINDS[numbers[place + 3] as number] as Outcome['kind']
    const key = texts[text++] as string
    settlements.push({
      key,
      slot: orNull(numbers[place]),
      turn: numbers[place + 1] as number,
      seen: numbers[place + 2] as number,
      outcome:
        kind === 'dead'
          ? { kind, reason: texts[text++] as string, error: texts[text++] as string | null }
          : kind === 'retry'
            ? { kind, dueAt: numbers[place + 4] as number, error: texts[text++] as string | null }
            : kind === 'again'
              ? { kind, dueAt: numbers[place + 4] as number }
              : { kind },
    })
  }
  for (const [nth, seen] of seenPayloads?.entries() ?? [])
    (settlements[nth] as Settlement).seenPayloads = seen
  return settlements
}

/** How many there are, and those of them that are not plainly settled, each with its place. */
export function packAnswers(answers: readonly SettleAnswer[]): number[] {
  const numbers = [answers.length]
  for (const [nth, { result, nextDueAt }] of answers.entries()) {
    if (result === 'settled' && nextDueAt === null) continue
    numbers.push(nth, RESULTS.indexOf(result), nextDueAt ?? Number.NaN)
  }
  return numbers
}

export function unpackAnswers(numbers: readonly number[]): SettleAnswer[] {
  const answers = Array.from({ length: numbers[0] as number }, (): SettleAnswer => SETTLED)
  for (let place = 1; place < numbers.length; place += ANSWER_NUMBERS) {
    const result = RESULTS[numbers[place + 1] as number] as SettleAnswer['result']
    answers[numbers[place] as number] = { result, nextDueAt: orNull(numbers[place + 2]) }
  }
  return answers
}

const SETTLED: SettleAnswer = Object.freeze({ result: 'settled', nextDueAt: null })

function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value
}
