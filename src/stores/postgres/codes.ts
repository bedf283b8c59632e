// The numbers that the queries of this store share with TypeScript. A query names one as `:put.merged`, and the loader of the
// queries writes the number there.
import { CONFLICT_RULES, LANES, type OnConflict } from '../../pool/entry.ts'
import type { PutResult } from '../../pool/merge.ts'
import type { SettleAnswer } from '../../pool/store.ts'

/** What a put did to its entry. */
export const PUT_STEP = {
  created: 0,
  /** Created in the place of a dead entry, or of a fired slot that is forgotten. */
  recreated: 1,
  merged: 2,
  replaced: 3,
  kept: 4,
  /** Merged into, or replaced, the run that comes after the next one. */
  mergedAfter: 5,
  replacedAfter: 6,
  /** Kept because its slot has fired. */
  keptFired: 7,
} as const

export type PutStep = (typeof PUT_STEP)[keyof typeof PUT_STEP]

export const PUT_RESULTS: Readonly<Record<PutStep, PutResult>> = {
  [PUT_STEP.created]: 'created',
  [PUT_STEP.recreated]: 'created',
  [PUT_STEP.merged]: 'merged',
  [PUT_STEP.replaced]: 'replaced',
  [PUT_STEP.kept]: 'kept',
  [PUT_STEP.mergedAfter]: 'merged',
  [PUT_STEP.replacedAfter]: 'replaced',
  [PUT_STEP.keptFired]: 'kept',
}

/** What a note consists of: the place of the put in its request, its rule, and its step. The last two are masks. */
export const NOTE = { place: 64, rule: 8, rules: 56, steps: 7 } as const

/** The rules of puts as they are in a note. */
export const RULE = Object.fromEntries(
  CONFLICT_RULES.map((rule, nth) => [rule, nth * NOTE.rule]),
) as Readonly<Record<OnConflict, number>>

/** What a settle did to its entry. */
export const SETTLE_STEP = {
  /** The same run is due again later. */
  retry: 1,
  /** What was put since the take is due. */
  repeat: 2,
  /** The run after it is the next one; a time of the handler's own comes after that. */
  promote: 3,
  /** The handler's own time is next, and the run after it stays. */
  again: 4,
  /** Nothing is left. */
  remove: 5,
  /** Nothing is left to run, and the entry is dead. */
  die: 6,
  /** Nothing is left, and the key rests. */
  rest: 7,
} as const

export const SETTLE_RESULT = { settled: 0, gone: 1, refused: 2 } as const satisfies Record<
  SettleAnswer['result'],
  number
>

/** Stands for no slot, in mode one: a key with a null would not be unique. */
export const NO_SLOT = Number.MIN_SAFE_INTEGER

const CODES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  put: PUT_STEP,
  note: NOTE,
  rule: RULE,
  settle: SETTLE_STEP,
  result: SETTLE_RESULT,
  slot: { none: NO_SLOT },
  lane: { last: LANES.length - 1 },
}

/** The number that `:group.name` stands for; undefined: none. */
export function codeOf(group: string, name: string): number | undefined {
  return CODES[group]?.[name]
}
