import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOUNDS_MS, Histogram } from '../../../src/meter/histogram.ts'

test('a value falls into the first bucket whose bound it does not exceed', () => {
  const histogram = new Histogram()
  for (const ms of [0, 1, 1.1, 2.5, 600_000, 600_001]) histogram.record(ms)
  assert.deepEqual([histogram.counts[0], histogram.counts[1]], [2, 2])
  assert.deepEqual([histogram.counts.at(-2), histogram.counts.at(-1)], [1, 1])
  assert.equal(histogram.counts.length, BOUNDS_MS.length + 1)
  assert.deepEqual([histogram.count, histogram.max, histogram.sum], [6, 600_001, 1_200_005.6])
})

test('a quantile is never below the true one, and never above the greatest value', () => {
  const histogram = new Histogram()
  for (let ms = 1; ms <= 100; ms += 1) histogram.record(ms)
  assert.deepEqual([histogram.quantile(0.5), histogram.quantile(0.99), histogram.quantile(1)], [50, 100, 100])
  histogram.record(700_000)
  assert.equal(histogram.quantile(1), 700_000)
})

test('without values every quantile is 0', () => {
  assert.equal(new Histogram().quantile(0.99), 0)
})
