import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textArray } from '../../../../src/stores/postgres/arrays.ts'
import { readAnswers, splitRounds } from '../../../../src/stores/postgres/put-batch.ts'
import type { PutAnswer } from '../../../../src/pool/merge.ts'
import { asPut } from '../../../../src/testing/pool-driver.ts'

const places = (rounds: { nth: number }[][]): number[][] => rounds.map((round) => round.map(({ nth }) => nth))

test('in mode one a key that stands again is a repeat', () => {
  const puts = ['a', 'b', 'a', 'c', 'a'].map((key) => asPut(key))
  assert.deepEqual(places(splitRounds(puts, 'one')), [
    [0, 1, 3],
    [2, 4],
  ])
})

test('in mode each a slot that stands again is a repeat, and so is any slot beside one of now', () => {
  const puts = [
    asPut('a', { at: 1 }),
    asPut('a', { at: 2 }),
    asPut('a', { at: 1 }),
    asPut('b', { at: 1 }),
    asPut('b'),
  ]
  assert.deepEqual(places(splitRounds(puts, 'each')), [
    [0, 1, 3],
    [2, 4],
  ])
})

test('those created are due by the time of the batch, and the others as the store noted', () => {
  const [placed = []] = splitRounds([asPut('a', { at: 5 }), asPut('b', { at: 50 }), asPut('c')], 'one')
  const answers: PutAnswer[] = []
  readAnswers(answers, placed, { now: 10, notes: [2 * 64 + 5], numbers: [70], tallies: [3] })
  assert.deepEqual(answers, [
    { result: 'created', dueAt: 10, tally: 1 },
    { result: 'created', dueAt: 50, tally: 1 },
    { result: 'merged', dueAt: 70, tally: 3 },
  ])
})

test('texts in an array are quoted, so that none is taken for another or for null', () => {
  assert.equal(textArray(['a', null, 'NULL', '', 'a,b', '"\\{}']), '{"a",NULL,"NULL","","a,b","\\"\\\\{}"}')
})
