import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hdr } from '../../../src/meter/hdr.ts'

const SPREAD_MS = [0, 0.001, 0.0635, 0.064, 0.127, 1, 3.25, 42, 999.999, 60_000, 2_147_483.7, 3e9, 2e12]

test('[I2] a quantile is at or above the true one, by at most 1/32, from microseconds to decades', () => {
  for (const ms of SPREAD_MS) {
    const histogram = new Hdr()
    histogram.record(ms)
    histogram.record(Math.max(ms * 2, 1))
    const half = histogram.quantile(0.5) ?? Number.NaN
    assert.ok(half >= ms && half <= ms * (33 / 32) + 0.001, `${ms} ms is told as ${half}`)
  }
})

test('[I2] a quantile is never beyond the greatest value, and of nothing it is unknown', () => {
  const histogram = new Hdr()
  assert.equal(histogram.quantile(0.99), null)
  for (let ms = 1; ms <= 1000; ms += 1) histogram.record(ms)
  assert.equal(histogram.quantile(1), 1000)
  const p99 = histogram.quantile(0.99) ?? 0
  assert.ok(p99 >= 990 && p99 <= 1000, `p99 is ${p99}`)
  assert.deepEqual([histogram.count, histogram.sumMs, histogram.maxMs], [1000, 500_500, 1000])
})

test('[I2] a duration below zero, of clocks that disagree, counts as zero', () => {
  const histogram = new Hdr()
  histogram.record(-5)
  assert.deepEqual([histogram.quantile(1), histogram.sumMs], [0, 0])
})

test('[I3] what is kept sparse and added up again is what was recorded', () => {
  const [all, first, second] = [new Hdr(), new Hdr(), new Hdr()]
  for (const [nth, ms] of SPREAD_MS.map(Math.round).entries()) {
    all.record(ms)
    ;(nth % 2 === 0 ? first : second).record(ms)
  }
  const sum = new Hdr()
  for (const part of [first.sparse(), second.sparse()]) if (part !== null) sum.add(part)
  assert.deepEqual(sum.sparse(), all.sparse())
  const dense = new Hdr()
  dense.addAll(first)
  dense.addAll(second)
  assert.deepEqual(dense.sparse(), all.sparse())
  all.clear()
  assert.equal(all.sparse(), null)
  all.record(7)
  assert.equal(all.quantile(0.5), 7)
})

test('[I2] counts up to a bound leave out what shares a bucket with it', () => {
  const histogram = new Hdr()
  for (const ms of [0.5, 0.99, 1, 2]) histogram.record(ms)
  assert.equal(histogram.countUpTo(1), 2)
  assert.equal(histogram.countUpTo(1.1), 3)
  assert.equal(histogram.countUpTo(600_000), 4)
})
