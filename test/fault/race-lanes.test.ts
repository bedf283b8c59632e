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
})

test('[X6] a second in which little was called says nothing of shares', () => {
  const calls = Array.from({ length: 100 }, (_, nth): Call => ({ key: `k${nth}`, at: nth, lane: 'bulk' }))
  const late: Call = { key: 'late', at: 1500, lane: 'fanout' }
  assert.deepEqual(sharesOf([...calls, late], { from: 0, seconds: 3 }), [1])
  assert.deepEqual(sharesOf([], { from: 0, seconds: 1 }), [])
})
