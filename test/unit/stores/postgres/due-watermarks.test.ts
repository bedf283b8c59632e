// From where moves and pulses read, without a server.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DueWatermarks } from '../../../../src/stores/postgres/due-watermarks.ts'

const POOL = 1
const NOW = 1_000_000

function swept(): DueWatermarks {
  const watermarks = new DueWatermarks()
  watermarks.afterSweep(POOL, [0, 1], { now: NOW, nextDueAt: null })
  return watermarks
}

void describe('watermarks', () => {
  void test('[Y10] nothing is known of a partition that was not swept', () => {
    const watermarks = swept()
    assert.equal(watermarks.beforeMove(POOL, [0, 2]), null)
    assert.equal(watermarks.beforePulse(POOL, [0, 2]).from, null)
    assert.equal(watermarks.beforeMove(2, [0]), null)
    assert.equal(watermarks.beforeMove(2, []), null)
  })

  void test('[Y10] a move goes on a little before the last one, and not behind what that left', () => {
    const watermarks = swept()
    assert.equal(watermarks.beforeMove(POOL, [0, 1]), NOW - 10_000)
    watermarks.afterMove(POOL, NOW - 10_000, [0, 1], { now: NOW + 50, nextDueAt: NOW + 9000 })
    assert.equal(watermarks.beforeMove(POOL, [0, 1]), NOW - 200)
    watermarks.afterMove(POOL, NOW - 200, [0, 1], { now: NOW + 60, nextDueAt: NOW + 10 })
    assert.equal(watermarks.beforeMove(POOL, [0, 1]), NOW - 240)
  })

  void test('[Y10] a move of which the answer was lost, and what is told of, lower the next one', () => {
    const watermarks = swept()
    const from = watermarks.beforeMove(POOL, [0])
    watermarks.afterMove(POOL, from, [0], { now: NOW + 1000, nextDueAt: null })
    watermarks.lower(POOL, NOW - 5000)
    assert.equal(watermarks.beforeMove(POOL, [0]), NOW - 5000)
    assert.equal(watermarks.beforeMove(POOL, [0]), NOW + 750, 'once')
  })

  void test('[Y10] a partition that a move did not hold is not known any more', () => {
    const watermarks = swept()
    watermarks.afterMove(POOL, NOW, [0], { now: NOW, nextDueAt: null })
    assert.equal(watermarks.beforeMove(POOL, [0, 1]), null)
    assert.notEqual(watermarks.beforeMove(POOL, [0]), null)
  })

  void test('[Y10] V7: a pulse looks back from the last one that was answered, however long ago, and from what that found', () => {
    const watermarks = swept()
    const from = watermarks.beforePulse(POOL, [0, 1])
    watermarks.afterPulse(POOL, from, [0, 1], { now: NOW + 500, nextDueAt: NOW + 100 })
    assert.equal(watermarks.beforePulse(POOL, [0]).from, NOW + 100 - 10_000)
    assert.equal(watermarks.beforeMove(POOL, [0]), NOW - 10_000)
  })

  void test('[Y10] of two pulses under way the later one counts; a clock that was set back makes all unknown', () => {
    const watermarks = swept()
    const [first, second] = [watermarks.beforePulse(POOL, [0]), watermarks.beforePulse(POOL, [0])]
    watermarks.afterPulse(POOL, second, [0], { now: NOW + 900, nextDueAt: null })
    watermarks.afterPulse(POOL, first, [0], { now: NOW + 300, nextDueAt: null })
    const third = watermarks.beforePulse(POOL, [0])
    assert.equal(third.from, NOW + 900 - 10_000)
    watermarks.afterPulse(POOL, third, [0], { now: NOW + 800, nextDueAt: null })
    assert.equal(watermarks.beforePulse(POOL, [0]).from, null)
    assert.equal(watermarks.beforeMove(POOL, [0]), null)
  })

  void test('[Y10] after half a minute of pulses that read a part, what lies behind is swept, and not read by a pulse', () => {
    const watermarks = swept()
    const before = watermarks.beforePulse(POOL, [0])
    watermarks.afterPart(POOL, before, NOW + 29_000)
    assert.equal(watermarks.beforePulse(POOL, [0]).from, NOW - 10_000)
    watermarks.afterPart(POOL, before, NOW + 31_000)
    assert.equal(watermarks.beforePulse(POOL, [0]).from, null)
    watermarks.afterSweep(POOL, [0, 1], { now: NOW + 31_500, nextDueAt: null })
    assert.equal(watermarks.beforePulse(POOL, [0]).from, NOW + 21_500)
  })

  void test('[Y10] a part that was read at an earlier time than the one before tells that the clock was set back', () => {
    const watermarks = swept()
    watermarks.afterPart(POOL, watermarks.beforePulse(POOL, [0]), NOW + 1000)
    watermarks.afterPart(POOL, watermarks.beforePulse(POOL, [0]), NOW + 500)
    assert.equal(watermarks.beforePulse(POOL, [0]).from, null)
  })
})
