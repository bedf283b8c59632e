import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTS, LaneMeter, STEPS, type Window } from '../../../src/meter/lane-meter.ts'

const RUN = STEPS.indexOf('run')
const TAKEN = COUNTS.indexOf('taken')

/** A meter that was told of one run in each of these seconds, as long in ms as the second's number. */
function told(seconds: readonly number[], now: number): LaneMeter {
  const meter = new LaneMeter(0)
  for (const second of seconds) {
    meter.turn(second)
    meter.counts[TAKEN] = (meter.counts[TAKEN] ?? 0) + 1
    meter.steps[RUN]?.record(second)
  }
  meter.turn(now)
  return meter
}

function numbers(meter: LaneMeter, window: Window, now: number): number[][] {
  return meter.buckets(window, now).map(({ nth, counts, steps }) => {
    return [nth, counts[TAKEN] ?? 0, steps[RUN]?.sumMs ?? -1]
  })
}

test('[I3] a bucket is shown when it is over, and one that held nothing is not', () => {
  const meter = told([3, 3, 5], 5)
  assert.deepEqual(numbers(meter, '1s', 5), [[3, 2, 6]])
  meter.turn(6)
  const both = [
    [3, 2, 6],
    [5, 1, 5],
  ]
  assert.deepEqual(numbers(meter, '1s', 6), both)
  assert.deepEqual(numbers(meter, '10s', 6), [])
})

test('[I3] larger buckets hold what the smaller ones within them held, also after silence', () => {
  const meter = told([1, 9, 10, 59, 60, 61, 200], 201)
  assert.deepEqual(numbers(meter, '10s', 201), [
    [0, 2, 10],
    [1, 1, 10],
    [5, 1, 59],
    [6, 2, 121],
  ])
  assert.deepEqual(numbers(meter, '60s', 201), [
    [0, 4, 79],
    [1, 2, 121],
  ])
})

test('[I3] seconds are kept for two minutes, and then forgotten', () => {
  const all = Array.from({ length: 500 }, (_, second) => second)
  const meter = told(all, 500)
  const kept = numbers(meter, '1s', 500).map(([nth]) => nth)
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [120, 380, 499])
  assert.deepEqual(numbers(meter, '1s', 10_000), [])
  assert.equal(meter.total('taken'), 500)
  assert.equal(meter.totalOf('run').count, 500)
})
