// The checker of lanes finds a second in which one of them got nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Call, sharesOf } from './race-lanes.ts'

test('[X6] the share of a lane is counted second by second, and one without it is found', () => {
  const calls = Array.from({ length: 300 }, (_, nth): Call => {
    const at = 5000 + nth * 10
    return { key: `k${nth}`, at, lane: at < 7000 && nth % 10 === 0 ? 'bulk' : 'fanout' }
  })
  assert.deepEqual(sharesOf(calls, { from: 5000, seconds: 3 }), [0.1, 0.1, 0])
  assert.deepEqual(sharesOf([], { from: 5000, seconds: 1 }), [0])
})
