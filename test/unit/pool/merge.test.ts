// The put table on the pure rule alone; the contract suite plays the same table on every store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry, Mode } from '../../../src/pool/entry.ts'
import { type MergeContext, merge } from '../../../src/pool/merge.ts'
import { asPut } from '../../../src/testing/pool-driver.ts'
import {
  CELL_TIMES,
  type CellRun,
  type CellState,
  PREPARED,
  PUT_TABLE,
} from '../../../src/testing/put-table.ts'

const NOW = 1_000_000
const OLD_TURN = 7
const NEW_TURN = 8

function entryOf(state: CellState): Entry | undefined {
  const held = PREPARED[state]
  if (held === null) return undefined
  const isBackingOff = state.startsWith('backing off')
  return {
    key: 'a',
    slot: null,
    group: 'a',
    partition: 0,
    turn: OLD_TURN,
    lane: 'normal',
    next: fromNow(held.next),
    after: held.after === null ? null : fromNow(held.after),
    attempt: isBackingOff || state === 'dead' ? 1 : 0,
    crashes: 0,
    state: state === 'dead' ? 'dead' : 'live',
    failing: state === 'dead',
    lastError: state === 'dead' ? 'it broke' : null,
    enqueuedAt: NOW - 500,
    putAt: NOW - 500,
  }
}

function contextOf(mode: Mode, fired = false): MergeContext {
  return { mode, now: NOW, partition: 0, lane: 'normal', fired, restsUntil: 0, newTurn: () => NEW_TURN }
}

function fromNow(run: CellRun): CellRun {
  return { ...run, dueAt: run.dueAt + NOW }
}

for (const cell of PUT_TABLE) {
  for (const time of cell.times) {
    test(`[${cell.rule}] the rule for ${cell.onConflict}, ${time}, on ${cell.state}`, () => {
      const existing = entryOf(cell.state)
      const before = structuredClone(existing)
      const at = NOW + CELL_TIMES[time]
      const put = asPut('a', { at, payload: '"new"', onConflict: cell.onConflict })
      const context = contextOf('one')
      const { entry, answer } = merge(existing, put, context)
      assert.deepEqual(existing, before, 'what was given is not changed')
      assert.ok(entry !== undefined)
      assert.equal(answer.result, cell.result)
      assert.deepEqual(entry.next, fromNow(cell.next))
      assert.deepEqual(entry.after, cell.after === null ? null : fromNow(cell.after))
      assert.equal(entry.turn, cell.renewed ? NEW_TURN : OLD_TURN)
      if (cell.result === 'kept') assert.equal(entry, existing)
    })
  }
}

test('[M3] no cell writes a dueAt in the past', () => {
  for (const { state, onConflict, times } of PUT_TABLE) {
    const existing = entryOf(state)
    for (const time of times) {
      const put = asPut('a', { at: NOW + CELL_TIMES[time], onConflict })
      const context = contextOf('one')
      const { entry } = merge(existing, put, context)
      assert.ok(entry !== undefined)
      const { next, after } = entry
      const isOld = existing !== undefined && next.dueAt === existing.next.dueAt
      assert.ok(isOld || next.dueAt >= NOW, `${state}, ${time}`)
      assert.ok((after?.dueAt ?? NOW) >= NOW, `${state}, ${time}`)
    }
  }
})

for (const [where, at, dueAt] of [
  ['before now', NOW - 5, NOW],
  ['after now', NOW + 5, NOW + 5],
  ['now', null, NOW],
] as const) {
  test(`[T5] a put on a fired slot ${where} is kept with tally 0, and makes no entry`, () => {
    const { entry, answer } = merge(undefined, asPut('a', { at }), contextOf('each', true))
    assert.equal(entry, undefined)
    assert.deepEqual(answer, { result: 'kept', dueAt, tally: 0 })
  })
}

test('[T5] a dead entry in a fired slot stays dead', () => {
  const dead = entryOf('dead')
  const { entry, answer } = merge(dead, asPut('a', { at: NOW }), contextOf('each', true))
  assert.equal(entry, dead)
  assert.deepEqual(answer, { result: 'kept', dueAt: NOW, tally: 0 })
})

test('[T5] an entry that lives in a fired slot is kept with its own tally', () => {
  const waiting = entryOf('waiting')
  const { entry, answer } = merge(waiting, asPut('a', { at: NOW + 9 }), contextOf('each', true))
  assert.equal(entry, waiting)
  assert.deepEqual(answer, { result: 'kept', dueAt: waiting?.next.dueAt, tally: waiting?.next.tally })
})
