// The checkers of limits catch a breach, and count to the edge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type WitnessedRun,
  mostAtOnce,
  mostStartsWithin,
  startsPerSecond,
  underWayOnAverage,
} from './check-limits.ts'

function run(calledAt: number, endedAt = calledAt + 10, group = 'g'): WitnessedRun {
  return { group, calledAt, endedAt }
}

test('[L17] one start too many in a span that begins anywhere is found', () => {
  const even = Array.from({ length: 200 }, (_, nth) => run(nth * 20))
  assert.equal(mostStartsWithin(even, 1000), 50)
  assert.equal(mostStartsWithin([...even, run(1410)], 1000), 51)
  const late = Array.from({ length: 50 }, () => run(999.9))
  const early = Array.from({ length: 50 }, () => run(1000.1))
  assert.equal(mostStartsWithin([...early, ...late], 1000), 100)
})

test('[L14] starts that lie a whole span apart do not count together', () => {
  const first = Array.from({ length: 50 }, () => run(0))
  const second = Array.from({ length: 50 }, () => run(1000))
  assert.equal(mostStartsWithin([...second, ...first], 1000), 50)
})

test('[L13] a sixth run of one group beside five is found, also one that never ended', () => {
  const five = Array.from({ length: 5 }, () => run(0, 100))
  assert.equal(mostAtOnce([...five, run(50, 60, 'other')]), 5)
  assert.equal(mostAtOnce([...five, run(100, 200)]), 5)
  assert.equal(mostAtOnce([...five, run(99, 200)]), 6)
  assert.equal(mostAtOnce([run(0, Infinity), ...five.map(() => run(900, 1000))]), 6)
})

test('what is used is counted within the span alone', () => {
  const runs = [run(0, 1000), run(500, 1500), run(1500, Infinity), run(2500, 2600)]
  assert.equal(startsPerSecond(runs, { from: 500, until: 2500 }), 1)
  assert.equal(underWayOnAverage(runs, { from: 500, until: 2500 }), 1.25)
})
