import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestOf, ratiosOf } from '../../../bench/work/rounds.ts'

test('the fastest of the heats go on', () => {
  const heats = [4, 9, 7, 8].map((rate) => ({ setting: `s${rate}`, rate }))
  assert.deepEqual(bestOf(heats, 3), ['s9', 's8', 's7'])
  assert.deepEqual(bestOf(heats, 9).length, 4)
})

test('in each round we are compared with whichever setting of the peer was the fastest in it', () => {
  const peers = [
    [10, 30],
    [20, 15],
  ]
  assert.deepEqual(ratiosOf([60, 60], peers), [3, 2])
})

test('a round that a peer did not race is no number, and holds no bar', () => {
  assert.deepEqual(ratiosOf([60, 60], [[10]]), [6, Number.NaN])
})
