// The pulse over a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PULSE_MS, PulseLoop } from '../../src/pulse.ts'
import type { Pulse } from '../../src/store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** A pulse whose store fails on the beats that are named, from 1 on. */
function createPulse(failing: number[] = []) {
  const clock = new VirtualClock()
  const seen: number[] = []
  let beats = 0
  const pulse = async (): Promise<Pulse> => {
    beats += 1
    if (failing.includes(beats)) throw new Error('the store is locked')
    return { now: clock.now(), nextDueAt: new Map(), refusal: null }
  }
  const loop = new PulseLoop({ store: { pulse }, clock, notice: () => seen.push(clock.mono()) })
  return { clock, loop, seen }
}

test('[D4] it beats at the start and every half second, and tells each answer', async () => {
  const { clock, loop, seen } = createPulse()
  await loop.service.start()
  await clock.advance(2 * PULSE_MS)
  assert.deepEqual(seen, [0, PULSE_MS, 2 * PULSE_MS])
  await loop.service.stop()
  assert.equal(clock.pending, 0)
})

test('[D4] a failed beat shows as its age, and the next one comes in time', async () => {
  const { clock, loop, seen } = createPulse([2])
  await loop.service.start()
  await clock.advance(PULSE_MS + 100)
  assert.equal(loop.ageMs, PULSE_MS + 100)
  await clock.advance(PULSE_MS)
  assert.deepEqual([seen, loop.ageMs], [[0, 2 * PULSE_MS], 100])
  await loop.service.stop()
})

test('a start whose first beat fails leaves nothing running, and can be repeated', async () => {
  const { clock, loop, seen } = createPulse([1])
  await assert.rejects(loop.service.start(), /locked/)
  assert.deepEqual([loop.service.state, clock.pending], ['failed', 0])
  await loop.service.start()
  assert.deepEqual([loop.service.state, seen], ['running', [0]])
  await loop.service.stop()
})
