// The put table of DESIGN and docs/spec/pool.md, cell by cell, as data: state of the entry × time of the put
// × rule. Written out by hand and not computed, so that it does not share a mistake with pool/merge.ts.
import type { OnConflict, PlannedRun } from '../pool/entry.ts'
import type { PutResult } from '../pool/merge.ts'

export const CELL_STATES = [
  'absent',
  'dead',
  'waiting',
  'due',
  'due with after',
  'backing off',
  'backing off with after',
] as const
export type CellState = (typeof CELL_STATES)[number]

/** Times of a put, in milliseconds from now. The runs of the prepared entries lie 1,000 and 2,000 away. */
export const CELL_TIMES = { past: -500, now: 0, sooner: 500, later: 2500 } as const
export type CellTime = keyof typeof CELL_TIMES

/** A run, its dueAt counted from now. */
export type CellRun = PlannedRun

export interface Cell {
  rule: string
  state: CellState
  times: readonly CellTime[]
  onConflict: OnConflict
  result: PutResult
  next: CellRun
  after: CellRun | null
  /** Is the turn another one afterwards? */
  renewed: boolean
}

const NEW = '"new"'
const run = (dueAt: number, tally: number, payload: string): CellRun => ({ dueAt, tally, payload })

/** What an entry of each state holds before the put. */
export const PREPARED: Record<CellState, { next: CellRun; after: CellRun | null } | null> = {
  absent: null,
  dead: { next: run(-100, 0, '"old"'), after: null },
  waiting: { next: run(1000, 1, '"old"'), after: null },
  due: { next: run(-100, 1, '"old"'), after: null },
  'due with after': { next: run(-100, 1, '"old"'), after: run(2000, 1, '"then"') },
  'backing off': { next: run(1000, 1, '"old"'), after: null },
  'backing off with after': { next: run(1000, 1, '"old"'), after: run(2000, 1, '"then"') },
}

const NOW = ['past', 'now'] as const
const SOONER = ['sooner'] as const
const LATER = ['later'] as const
const EVER = ['past', 'now', 'sooner', 'later'] as const
const RULES = ['earliest', 'replace', 'keep'] as const

const created = (state: CellState, rule: string): Cell[] =>
  RULES.flatMap((onConflict) =>
    (
      [
        [NOW, 0],
        [SOONER, 500],
        [LATER, 2500],
      ] as const
    ).map(([times, dueAt]): Cell => {
      const next = run(dueAt, 1, NEW)
      return { rule, state, times, onConflict, result: 'created', next, after: null, renewed: true }
    }),
  )

const onWaiting: Cell[] = (
  [
    ['M4', NOW, 'earliest', 'merged', run(0, 2, NEW)],
    ['M4', SOONER, 'earliest', 'merged', run(500, 2, NEW)],
    ['M4', LATER, 'earliest', 'merged', run(1000, 2, NEW)],
    ['M5', NOW, 'replace', 'replaced', run(0, 1, NEW)],
    ['M5', SOONER, 'replace', 'replaced', run(500, 1, NEW)],
    ['M5', LATER, 'replace', 'replaced', run(2500, 1, NEW)],
  ] as const
).map(([rule, times, onConflict, result, next]) => {
  return { rule, state: 'waiting', times, onConflict, result, next, after: null, renewed: rule === 'M5' }
})

/** Due, running and backing off are one row of the table: `next` starts at −100 or backs off until 1,000. */
function onStarted(state: CellState, dueAt: number): Cell[] {
  const old = run(dueAt, 1, '"old"')
  const joined = run(dueAt, 2, NEW)
  const rows = [
    ['M6', NOW, 'earliest', 'merged', joined, null],
    ['M6', NOW, 'replace', 'merged', joined, null],
    ['M7', SOONER, 'earliest', 'merged', old, run(500, 1, NEW)],
    ['M7', LATER, 'earliest', 'merged', old, run(2500, 1, NEW)],
    ['M7', SOONER, 'replace', 'merged', old, run(500, 1, NEW)],
    ['M7', LATER, 'replace', 'merged', old, run(2500, 1, NEW)],
  ] as const
  return rows.map(([rule, times, onConflict, result, next, after]) => {
    return { rule, state, times, onConflict, result, next, after, renewed: false }
  })
}

function onStartedWithAfter(state: CellState, dueAt: number): Cell[] {
  const old = run(dueAt, 1, '"old"')
  const joined = run(dueAt, 2, NEW)
  const then = run(2000, 1, '"then"')
  const rows = [
    ['M6', NOW, 'earliest', 'merged', joined, then],
    ['M6', NOW, 'replace', 'merged', joined, then],
    ['M7', SOONER, 'earliest', 'merged', old, run(500, 2, NEW)],
    ['M7', LATER, 'earliest', 'merged', old, run(2000, 2, NEW)],
    ['M7', SOONER, 'replace', 'replaced', old, run(500, 1, NEW)],
    ['M7', LATER, 'replace', 'replaced', old, run(2500, 1, NEW)],
  ] as const
  return rows.map(([rule, times, onConflict, result, next, after]) => {
    return { rule, state, times, onConflict, result, next, after, renewed: false }
  })
}

const kept = CELL_STATES.flatMap((state): Cell[] => {
  const held = PREPARED[state]
  if (held === null || state === 'dead') return []
  return [{ rule: 'M8', state, times: EVER, onConflict: 'keep', result: 'kept', ...held, renewed: false }]
})

/** Every cell of mode `one`. */
export const PUT_TABLE: readonly Cell[] = [
  ...created('absent', 'M1'),
  ...created('dead', 'M2'),
  ...onWaiting,
  ...onStarted('due', -100),
  ...onStartedWithAfter('due with after', -100),
  ...onStarted('backing off', 1000),
  ...onStartedWithAfter('backing off with after', 1000),
  ...kept,
]
