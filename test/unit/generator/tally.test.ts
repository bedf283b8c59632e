import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Second, Tally, spreadOf } from '../../../src/generator/tally.ts'

function times(count: number, call: () => void): void {
  for (let index = 0; index < count; index++) call()
}

test('rates are of the time that went by, not of the second that was planned', () => {
  const tally = new Tally()
  times(1300, () => tally.sent())
  times(650, () => tally.answered(202, 1))
  times(13, () => tally.consumed(4))
  const second = tally.second({ endMs: 1300, elapsedMs: 1300 })
  assert.deepEqual([second.generated, second.scheduled, second.consumed], [1000, 500, 10])
})

test('a second counts only what came since the one before', () => {
  const tally = new Tally()
  times(10, () => tally.sent())
  tally.consumed(500)
  tally.second({ endMs: 1000, elapsedMs: 1000 })
  times(3, () => tally.sent())
  tally.consumed(2)
  const second = tally.second({ endMs: 2000, elapsedMs: 1000 })
  assert.deepEqual([second.generated, second.latenessP99Ms], [3, 2])
  assert.deepEqual(tally.lateness, { p50: 2, p99: 500, max: 500 })
})

test('answers are counted by status, and only 202 is scheduled', () => {
  const tally = new Tally()
  times(2, () => tally.answered(202, 1.5))
  tally.answered(503, 1)
  tally.lost('ECONNRESET')
  assert.deepEqual(Object.fromEntries(tally.answers), { 202: 2, 503: 1, ECONNRESET: 1 })
  assert.deepEqual([tally.totals.scheduled, tally.totals.errors], [2, 2])
  assert.equal(tally.answerTime.p50, 1.5)
})

test('an event before its time is counted as early', () => {
  const tally = new Tally()
  tally.consumed(-1)
  tally.consumed(0)
  tally.consumed(null)
  assert.deepEqual([tally.totals.consumed, tally.totals.early], [3, 1])
})

test('mean is by time, and a short last line is no worst second', () => {
  const line = (elapsedMs: number, scheduled: number): Second => ({
    endMs: 0,
    elapsedMs,
    generated: 0,
    scheduled,
    consumed: 0,
    latenessP50Ms: null,
    latenessP99Ms: null,
    errors: 0,
  })
  assert.deepEqual(spreadOf([line(1000, 100), line(1000, 80), line(500, 20)], 'scheduled'), {
    mean: 76,
    worst: 80,
  })
  assert.equal(spreadOf([], 'scheduled'), null)
})
