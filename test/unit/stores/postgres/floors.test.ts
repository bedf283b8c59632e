// From where moves and pulses read, without a server.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Floors } from '../../../../src/stores/postgres/floors.ts'

const POOL = 1
const NOW = 1_000_000

function swept(): Floors {
  const floors = new Floors()
  floors.afterSweep(POOL, [0, 1], { now: NOW, nextDueAt: null })
  return floors
}

void describe('floors', () => {
  void test('[Y10] nothing is known of a partition that was not swept', () => {
    const floors = swept()
    assert.equal(floors.beforeMove(POOL, [0, 2]), null)
    assert.equal(floors.beforePulse(POOL, [0, 2]).from, null)
    assert.equal(floors.beforeMove(2, [0]), null)
    assert.equal(floors.beforeMove(2, []), null)
  })

  void test('[Y10] a move goes on a little before the last one, and not behind what that left', () => {
    const floors = swept()
    assert.equal(floors.beforeMove(POOL, [0, 1]), NOW - 10_000)
    floors.afterMove(POOL, NOW - 10_000, [0, 1], { now: NOW + 50, nextDueAt: NOW + 9000 })
    assert.equal(floors.beforeMove(POOL, [0, 1]), NOW - 200)
    floors.afterMove(POOL, NOW - 200, [0, 1], { now: NOW + 60, nextDueAt: NOW + 10 })
    assert.equal(floors.beforeMove(POOL, [0, 1]), NOW - 240)
  })

  void test('[Y10] a move of which the answer was lost, and what is told of, lower the next one', () => {
    const floors = swept()
    const from = floors.beforeMove(POOL, [0])
    floors.afterMove(POOL, from, [0], { now: NOW + 1000, nextDueAt: null })
    floors.lower(POOL, NOW - 5000)
    assert.equal(floors.beforeMove(POOL, [0]), NOW - 5000)
    assert.equal(floors.beforeMove(POOL, [0]), NOW + 750, 'once')
  })

  void test('[Y10] a partition that a move did not hold is not known any more', () => {
    const floors = swept()
    floors.afterMove(POOL, NOW, [0], { now: NOW, nextDueAt: null })
    assert.equal(floors.beforeMove(POOL, [0, 1]), null)
    assert.notEqual(floors.beforeMove(POOL, [0]), null)
  })

  void test('[Y10] V7: a pulse looks back from the last one that was answered, however long ago, and from what that found', () => {
    const floors = swept()
    const from = floors.beforePulse(POOL, [0, 1])
    floors.afterPulse(POOL, from, [0, 1], { now: NOW + 500, nextDueAt: NOW + 100 })
    assert.equal(floors.beforePulse(POOL, [0]).from, NOW + 100 - 10_000)
    assert.equal(floors.beforeMove(POOL, [0]), NOW - 10_000)
  })

  void test('[Y10] of two pulses under way the later one counts; a clock that was set back makes all unknown', () => {
    const floors = swept()
    const [first, second] = [floors.beforePulse(POOL, [0]), floors.beforePulse(POOL, [0])]
    floors.afterPulse(POOL, second, [0], { now: NOW + 900, nextDueAt: null })
    floors.afterPulse(POOL, first, [0], { now: NOW + 300, nextDueAt: null })
    const third = floors.beforePulse(POOL, [0])
    assert.equal(third.from, NOW + 900 - 10_000)
    floors.afterPulse(POOL, third, [0], { now: NOW + 800, nextDueAt: null })
    assert.equal(floors.beforePulse(POOL, [0]).from, null)
    assert.equal(floors.beforeMove(POOL, [0]), null)
  })

  void test('[Y10] after half a minute of pulses that read a part, what lies behind is swept, and not read by a pulse', () => {
    const floors = swept()
    const before = floors.beforePulse(POOL, [0])
    floors.afterPart(POOL, before, NOW + 29_000)
    assert.equal(floors.beforePulse(POOL, [0]).from, NOW - 10_000)
    floors.afterPart(POOL, before, NOW + 31_000)
    assert.equal(floors.beforePulse(POOL, [0]).from, null)
    floors.afterSweep(POOL, [0, 1], { now: NOW + 31_500, nextDueAt: null })
    assert.equal(floors.beforePulse(POOL, [0]).from, NOW + 21_500)
  })

  void test('[Y10] a part that was read at an earlier time than the one before tells that the clock was set back', () => {
    const floors = swept()
    floors.afterPart(POOL, floors.beforePulse(POOL, [0]), NOW + 1000)
    floors.afterPart(POOL, floors.beforePulse(POOL, [0]), NOW + 500)
    assert.equal(floors.beforePulse(POOL, [0]).from, null)
  })
})
