import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Spaced, opensAt, roomAt, startedAt } from '../../../src/pool/spacing.ts'

/** When starts come that begin as soon as they may, looked at every so often. */
function startsOf(paceMs: number, { everyMs, untilMs }: { everyMs: number; untilMs: number }): number[] {
  const starts: number[] = []
  let spaced: Spaced | null = null
  for (let now = 0; now <= untilMs; now += everyMs) {
    while (opensAt(spaced, { now, paceMs, reserved: 0 }) <= now) {
      starts.push(now)
      spaced = startedAt(spaced, { now, paceMs })
    }
  }
  return starts
}

test('[L22] starts are a pace apart, and one that came late does not bring the next one forward', () => {
  assert.deepEqual(startsOf(20, { everyMs: 1, untilMs: 60 }), [0, 20, 40, 60])
  assert.deepEqual(startsOf(20, { everyMs: 15, untilMs: 90 }), [0, 30, 60, 90])
})

test('[L22] what is faster than a start in 10 ms comes in steps of 10 ms, and reaches its rate', () => {
  const starts = startsOf(2, { everyMs: 5, untilMs: 995 })
  assert.ok(starts.length >= 500 && starts.length <= 505, `${starts.length}`)
  for (const [nth, at] of starts.entries()) {
    const sixth = starts[nth + 5]
    assert.ok(sixth === undefined || sixth > at, `six at ${at}`)
  }
})

test('[L22] what is about to start counts, and it is known when the next one may', () => {
  assert.equal(opensAt(null, { now: 5, paceMs: 20, reserved: 1 }), Infinity)
  assert.equal(opensAt(null, { now: 5, paceMs: 2, reserved: 4 }), 0)
  const spaced = startedAt(null, { now: 5, paceMs: 20 })
  assert.equal(opensAt(spaced, { now: 10, paceMs: 20, reserved: 0 }), 25)
  assert.equal(roomAt(spaced, { now: 10, paceMs: 20, reserved: 0 }), 0)
  assert.equal(roomAt(spaced, { now: 25, paceMs: 20, reserved: 0 }), 1)
  assert.equal(roomAt(spaced, { now: 25, paceMs: 2, reserved: 2 }), 3)
  assert.equal(opensAt(spaced, { now: 10, paceMs: 5, reserved: 0 }), 0)
  assert.equal(opensAt(spaced, { now: 10, paceMs: Infinity, reserved: 0 }), Infinity)
})
