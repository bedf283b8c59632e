import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settlement } from '../../../../src/pool/settle.ts'
import { settleAnswers, settlementColumns } from '../../../../src/stores/postgres/settlements.ts'

const settlement = (key: string, outcome: Settlement['outcome']): Settlement => {
  return { key, slot: 7, turn: 3, seen: 1, outcome }
}

test('columns that hold nothing are not spelt out, and the others stand in the order of the settlements', () => {
  const done = settlementColumns([settlement('a', { kind: 'done' }), settlement('b', { kind: 'cancel' })])
  assert.deepEqual(done, ['{"a","b"}', '{7,7}', '{3,3}', '{1,1}', '{"done","cancel"}', '{}', '{}', '{}'])
  const mixed = settlementColumns([
    settlement('a', { kind: 'done' }),
    settlement('b', { kind: 'again', dueAt: 9 }),
    settlement('c', { kind: 'dead', reason: 'a\0b', error: null }),
  ])
  assert.deepEqual(mixed.slice(5), ['{NULL,9,NULL}', '{NULL,NULL,"a\uFFFDb"}', '{NULL,NULL,NULL}'])
})

test('settlements of which nothing is told are settled, with nothing left', () => {
  const settled = { result: 'settled', nextDueAt: null }
  assert.deepEqual(settleAnswers({ nths: null, results: null, next_due_ats: null }, 2), [settled, settled])
  const told = { nths: [3, 1], results: [1, 0], next_due_ats: [null, 5] }
  assert.deepEqual(settleAnswers(told, 3), [
    { result: 'settled', nextDueAt: 5 },
    settled,
    { result: 'gone', nextDueAt: null },
  ])
})
