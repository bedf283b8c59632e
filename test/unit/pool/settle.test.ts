// The settle table on the pure rule alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry, PlannedRun } from '../../../src/pool/entry.ts'
import { type Outcome, settle } from '../../../src/pool/settle.ts'

const NOW = 1_000_000
const SEEN = 2

type Shape = [dueIn: number, tally: number, payload: string] | null

interface Row {
  rule: string
  outcome: Outcome
  grownBy: number
  after: Shape
  becomes: { next: Shape; after: Shape; attempt?: number; state?: 'dead'; failing?: boolean } | null
}

const done: Outcome = { kind: 'done' }
const again: Outcome = { kind: 'again', dueAt: NOW + 50 }
const late: Outcome = { kind: 'again', dueAt: NOW - 50 }
const retry: Outcome = { kind: 'retry', dueAt: NOW + 50 }
const dead: Outcome = { kind: 'dead', reason: 'attempts', error: null }
const cancel: Outcome = { kind: 'cancel' }
const SOON: Shape = [20, 3, 'then']
const FAR: Shape = [90, 3, 'then']
const PASSED: Shape = [-20, 3, 'then']

const rows: Row[] = [
  { rule: 'S2', outcome: done, grownBy: 0, after: null, becomes: null },
  { rule: 'S3', outcome: done, grownBy: 1, after: null, becomes: { next: [0, 1, 'old'], after: null } },
  { rule: 'S3', outcome: done, grownBy: 1, after: SOON, becomes: { next: [0, 1, 'old'], after: SOON } },
  { rule: 'V3', outcome: again, grownBy: 1, after: FAR, becomes: { next: [0, 1, 'old'], after: FAR } },
  { rule: 'S4', outcome: done, grownBy: 0, after: SOON, becomes: { next: SOON, after: null } },
  { rule: 'S9', outcome: done, grownBy: 0, after: PASSED, becomes: { next: [0, 3, 'then'], after: null } },
  { rule: 'S4', outcome: again, grownBy: 0, after: null, becomes: { next: [50, 0, 'old'], after: null } },
  { rule: 'S4', outcome: again, grownBy: 0, after: SOON, becomes: { next: SOON, after: [50, 0, 'old'] } },
  { rule: 'S4', outcome: again, grownBy: 0, after: FAR, becomes: { next: [50, 0, 'old'], after: FAR } },
  { rule: 'V8', outcome: late, grownBy: 0, after: null, becomes: { next: [0, 0, 'old'], after: null } },
  {
    rule: 'S5',
    outcome: retry,
    grownBy: 0,
    after: null,
    becomes: { next: [50, 2, 'old'], after: null, attempt: 2 },
  },
  {
    rule: 'S5',
    outcome: retry,
    grownBy: 1,
    after: SOON,
    becomes: { next: [50, 3, 'old'], after: SOON, attempt: 2 },
  },
  {
    rule: 'S7',
    outcome: dead,
    grownBy: 0,
    after: null,
    becomes: { next: [-10, 0, 'old'], after: null, attempt: 2, state: 'dead', failing: true },
  },
  {
    rule: 'S6',
    outcome: dead,
    grownBy: 1,
    after: null,
    becomes: { next: [0, 1, 'old'], after: null, failing: true },
  },
  { rule: 'V2', outcome: dead, grownBy: 0, after: SOON, becomes: { next: SOON, after: null, failing: true } },
  {
    rule: 'S6',
    outcome: dead,
    grownBy: 1,
    after: SOON,
    becomes: { next: [0, 1, 'old'], after: SOON, failing: true },
  },
  { rule: 'S8', outcome: cancel, grownBy: 1, after: SOON, becomes: null },
]

function runOf(shape: Shape): PlannedRun | null {
  return shape === null ? null : { dueAt: NOW + shape[0], tally: shape[1], payload: shape[2] }
}

function entryOf({ grownBy, after }: Row): Entry {
  return {
    key: 'a',
    slot: null,
    group: 'a',
    partition: 0,
    turn: 7,
    lane: 'normal',
    next: { dueAt: NOW - 10, tally: SEEN + grownBy, payload: 'old' },
    after: runOf(after),
    attempt: 1,
    crashes: 0,
    state: 'live',
    failing: false,
    lastError: null,
    enqueuedAt: NOW - 10,
    putAt: NOW - 10,
  }
}

for (const row of rows) {
  const { rule, outcome, grownBy, after, becomes } = row
  const title = `${outcome.kind}, tally ${grownBy === 0 ? 'as seen' : 'grown'}, after ${after?.[0] ?? 'none'}`
  test(`[${rule}] the rule for ${title}`, () => {
    const entry = entryOf(row)
    const given = structuredClone(entry)
    const settlement = { key: 'a', slot: null, turn: 7, seen: SEEN, outcome }
    const settled = settle(entry, settlement, { now: NOW, newTurn: () => 8 })
    assert.deepEqual(entry, given, 'what was given is not changed')
    assert.equal(settled.death?.seen, outcome.kind === 'dead' ? SEEN : undefined)
    if (becomes === null) return assert.equal(settled.entry, null)
    assert.deepEqual(settled.entry?.next, runOf(becomes.next))
    assert.deepEqual(settled.entry?.after, runOf(becomes.after))
    const { turn, attempt, state, failing } = settled.entry ?? entry
    const { attempt: wanted = 0, state: wantedState = 'live', failing: wantedFailing = false } = becomes
    assert.deepEqual([turn, attempt, state, failing], [8, wanted, wantedState, wantedFailing])
  })
}
