import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLimit, formatValue, judge, median, quantile, round } from '../../../bench/measure.ts'
import type { BarSpec } from '../../../bench/question.ts'

const atLeast: BarSpec = { name: 'rate', unit: '/s', limit: { atLeast: 16_000 } }
const atMost: BarSpec = { name: 'late', unit: 'ms', limit: { atMost: 25 } }

test('the median is the middle value, whatever the order, and the mean of the middle two', () => {
  assert.equal(median([9, 1, 5]), 5)
  assert.equal(median([100, 2, 1, 4]), 3)
  assert.equal(median([7]), 7)
  assert.throws(() => median([]), /nothing/)
})

test('a quantile is one of the values, and numbers are not sorted as text', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  assert.equal(quantile(values, 0.5), 50)
  assert.equal(quantile(values, 0.99), 99)
  assert.equal(quantile(values, 1), 100)
  assert.equal(quantile([5], 0.99), 5)
  assert.throws(() => quantile([], 0.5), /nothing/)
})

test('a bar holds at its limit and not beyond it', () => {
  assert.equal(judge(atLeast, 16_000, false).holds, true)
  assert.equal(judge(atLeast, 15_999.9, false).holds, false)
  assert.equal(judge(atMost, 25, false).holds, true)
  assert.equal(judge(atMost, 25.01, false).holds, false)
})

test('a bar whose value is missing does not hold, and a quick run judges none', () => {
  assert.equal(judge(atMost, undefined, false).holds, false)
  assert.equal(judge(atLeast, undefined, false).holds, false)
  assert.deepEqual(judge(atLeast, 3, true), {
    name: 'rate',
    value: 3,
    bar: '≥ 16,000/s',
    holds: 'not judged',
  })
})

test('values are rounded for reading and carry their unit', () => {
  assert.deepEqual([16_123.4, 0.451_23, 99.96, 4].map(round), [16_123, 0.451, 100, 4])
  assert.equal(formatValue(16_123.4, '/s'), '16,123/s')
  assert.equal(formatValue(0.000_123_4, 'ms'), '0.000123 ms')
  assert.equal(formatValue(0.45, ''), '0.45')
  assert.equal(formatLimit(atMost), '≤ 25 ms')
})
