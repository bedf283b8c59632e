// How many workers would be enough.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Signal, WINDOW_MS, adviseWorkers } from '../../../src/roster/workers.ts'

const NOW = 10 * WINDOW_MS

/** Collectors that each reported one pass of 10 seconds with this load; null: none. */
function advise(loads: (number | null)[], partitions = 32): ReturnType<typeof adviseWorkers> {
  const reported = loads.map((load, nth) => {
    return { id: `c${nth}`, reports: load === null ? [] : [{ at: NOW, took: load * 10, had: 10 }] }
  })
  return adviseWorkers(reported, { now: NOW, partitions })
}

const rows: [loads: (number | null)[], signals: Signal[], recommended: number | null][] = [
  [[], [], null],
  [[null, null], ['unknown', 'unknown'], null],
  [[0.8], ['right'], 1],
  [[1], ['right'], 1],
  [[0.75], ['right'], 1],
  [[1.01], ['over'], 2],
  [[2], ['over'], 3],
  [[1.6], ['over'], 2],
  [[0.74], ['under'], 1],
  [[0], ['under'], 1],
  [[0, 0, 0], ['under', 'under', 'under'], 1],
  [[0.4, 0.4], ['under', 'under'], 1],
  [[0.4, 0.1, 0.2, 0.2], ['under', 'under', 'under', 'under'], 2],
  [[0.4, 0.4, 0.8], ['under', 'under', 'right'], 3],
  [[0.9, 0.1], ['right', 'under'], 2],
  [[0.4, null], ['under', 'unknown'], 2],
  [[1.2, null], ['over', 'unknown'], 3],
  [[1.5, 0.1], ['over', 'under'], 4],
]

for (const [loads, signals, recommended] of rows) {
  test(`[Q9] loads of ${JSON.stringify(loads)} recommend ${recommended}`, () => {
    const advice = advise(loads)
    assert.deepEqual(
      [advice.collectors.map(({ signal }) => signal), advice.recommended],
      [signals, recommended],
    )
    assert.ok(advice.reasons.length > 0)
  })
}

test('[Q9] the reasons say who was over, who the busiest is, and what would be', () => {
  assert.deepEqual(advise([1.5, 0.9]).reasons, [
    '1 of 2 took longer than they had',
    'the busiest, c0, worked 150 % of the time it had',
    'with 4 it would be about 75 %',
  ])
  assert.deepEqual(advise([]).reasons, ['nobody reported in the last 10 minutes'])
  assert.match(advise([0.9, null]).reasons.at(-1) ?? '', /1 of 2 did not report/)
})

test('[Q9] there are never more workers than residues, and the reason says so', () => {
  const { recommended, reasons } = advise([3, 3], 4)
  assert.equal(recommended, 4)
  assert.match(reasons.at(-1) ?? '', /^8 would be enough, but a share of 4 residues/)
})

test('[Q9] reports of the last ten minutes count, and all of them together', () => {
  const reports = [
    { at: NOW - WINDOW_MS, took: 100, had: 1 },
    { at: NOW - WINDOW_MS + 1, took: 3, had: 2 },
    { at: NOW, took: 1, had: 3 },
  ]
  const { collectors } = adviseWorkers([{ id: 'c', reports }], { now: NOW, partitions: 1 })
  assert.deepEqual(collectors, [{ id: 'c', passes: 2, took: 4, had: 5, load: 0.8, signal: 'right' }])
})
