import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FineHistogram } from '../../../src/generator/fine-histogram.ts'
import { createRandom } from '../../../src/random.ts'

function histogramOf(values: readonly number[]): FineHistogram {
  const histogram = new FineHistogram()
  for (const value of values) histogram.record(value)
  return histogram
}

test('small values are exact', () => {
  const histogram = histogramOf(Array.from({ length: 100 }, (_, index) => index + 1))
  assert.equal(histogram.quantile(0.5), 50)
  assert.equal(histogram.quantile(0.99), 99)
  assert.equal(histogram.quantile(1), 100)
  assert.equal(histogram.max, 100)
})

test('a quantile is never too low and at most 1.6 % too high, up to the greatest value', () => {
  const random = createRandom(11)
  const values = Array.from({ length: 20_000 }, () => Math.floor(2 ** (random.next() * 31)))
  const histogram = histogramOf(values)
  const sorted = values.toSorted((a, b) => a - b)
  for (const q of [0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1]) {
    const exact = sorted[Math.ceil(sorted.length * q) - 1] ?? 0
    const found = histogram.quantile(q) ?? 0
    assert.ok(found >= exact && found <= exact * (1 + 1 / 64), `q ${q}: ${found} for ${exact}`)
  }
})

test('values out of range fall into the first and the last bucket', () => {
  const histogram = histogramOf([-5, 2 ** 40])
  assert.equal(histogram.quantile(0.5), 0)
  assert.equal(histogram.quantile(1), 2 ** 31 - 1)
})

test('an empty histogram has no quantile, before and after clear()', () => {
  const histogram = histogramOf([])
  assert.equal(histogram.quantile(0.5), null)
  histogram.record(7)
  histogram.clear()
  assert.equal(histogram.quantile(0.5), null)
  assert.equal(histogram.count, 0)
})
