// The put table on the pure rule alone; the contract suite plays the same table on every store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../../src/pool/entry.ts'
import { merge } from '../../../src/pool/merge.ts'
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
    state: state === 'dead' ? 'dead' : 'live',
    failing: state === 'dead',
    enqueuedAt: NOW - 500,
    putAt: NOW - 500,
  }
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
      const context = { mode: 'one', now: NOW, partition: 0, newTurn: () => NEW_TURN } as const
      const { entry, answer } = merge(existing, put, context)
      assert.deepEqual(existing, before, 'what was given is not changed')
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
      const context = { mode: 'one', now: NOW, partition: 0, newTurn: () => NEW_TURN } as const
      const { next, after } = merge(existing, put, context).entry
      const isOld = existing !== undefined && next.dueAt === existing.next.dueAt
      assert.ok(isOld || next.dueAt >= NOW, `${state}, ${time}`)
      assert.ok((after?.dueAt ?? NOW) >= NOW, `${state}, ${time}`)
    }
  }
})
