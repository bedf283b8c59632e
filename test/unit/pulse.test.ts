// The pulse over a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONGEST_TIMER_MS } from '../../src/clock.ts'
import { PulseLoop } from '../../src/pulse.ts'
import type { Pulse } from '../../src/store.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const PULSE_MS = 500

interface BadBeats {
  failing?: number[]
  hanging?: number[]
  slow?: number[]
  late?: number[]
}

/** A pulse whose store fails, does not answer, or takes 100 or 800 ms, on the beats that are named, from 1 on. */
function createPulse(
  { failing = [], hanging = [], slow = [], late = [] }: BadBeats = {},
  everyMs = PULSE_MS,
) {
  const clock = new VirtualClock()
  const seen: number[] = []
  const sentAt: number[] = []
  const stuck = { now: false }
  let beats = 0
  const pulse = async (): Promise<Pulse> => {
    beats += 1
    if (hanging.includes(beats)) await clock.sleep(60_000)
    if (slow.includes(beats)) await clock.sleep(100)
    if (late.includes(beats)) await clock.sleep(800)
    if (failing.includes(beats)) throw new Error('the store is locked')
    return {
      now: clock.now(),
      nextDueAt: new Map(),
      controls: new Map(),
      beaten: null,
      arrived: [],
      refusal: null,
      generation: 'first',
    }
  }
  const loop = new PulseLoop({
    store: { pulse },
    clock,
    telemetry: createTelemetry('pulse'),
    everyMs,
    withinMs: 750,
    request: () => ({ beat: null, pools: [] }),
    isStuck: () => stuck.now,
    notice: (_, { mono }) => {
      seen.push(clock.mono())
      sentAt.push(mono)
    },
  })
  return { clock, loop, seen, sentAt, stuck }
}

test('[D4] it beats at the start and every half second, and tells each answer', async () => {
  const { clock, loop, seen } = createPulse()
  await loop.service.start()
  await clock.advance(2 * PULSE_MS)
  assert.deepEqual(seen, [0, PULSE_MS, 2 * PULSE_MS])
  await loop.service.stop()
  assert.equal(clock.pending, 0)
})

test('[D4] it may beat more rarely than the clock has timers', async () => {
  const everyMs = 2.5 * LONGEST_TIMER_MS
  const { clock, loop, seen } = createPulse({}, everyMs)
  await loop.service.start()
  await clock.advance(2 * everyMs)
  assert.deepEqual(seen, [0, everyMs, 2 * everyMs])
  await loop.service.stop()
  assert.equal(clock.pending, 0)
})

test('[D4] a failed beat shows as its age, and the next one comes in time', async () => {
  const { clock, loop, seen } = createPulse({ failing: [2] })
  await loop.service.start()
  await clock.advance(PULSE_MS + 99)
  assert.equal(loop.ageMs, PULSE_MS + 99)
  await clock.advance(1)
  assert.deepEqual([seen, loop.ageMs], [[0, PULSE_MS + 100], 0])
  await loop.service.stop()
})

test('[H6] a beat that is not answered in time is followed by the next at once, and two losses survive a lease', async () => {
  const { clock, loop, seen } = createPulse({ hanging: [2, 3] })
  await loop.service.start()
  await clock.advance(3000)
  assert.deepEqual(seen.slice(0, 2), [0, 500 + 750 + 750])
  await loop.service.stop()
})

test('[H2] an answer that comes late counts from when its beat was sent, unless a later one has come', async () => {
  const { clock, loop, seen, sentAt } = createPulse({ late: [2, 3] })
  await loop.service.start()
  await clock.advance(500 + 750 + 40)
  assert.deepEqual([sentAt, seen], [[0], [0]])
  await clock.advance(20)
  assert.deepEqual(
    [sentAt, seen],
    [
      [0, 500],
      [0, 500 + 800],
    ],
  )
  await clock.advance(10_000)
  assert.deepEqual(
    sentAt,
    sentAt.toSorted((a, b) => a - b),
  )
  await loop.service.stop()
})

test('[H5] while something is stuck no beat is sent', async () => {
  const { clock, loop, seen, stuck } = createPulse()
  await loop.service.start()
  stuck.now = true
  await clock.advance(5000)
  assert.deepEqual(seen, [0])
  stuck.now = false
  await clock.advance(PULSE_MS)
  assert.equal(seen.length, 2)
  await loop.service.stop()
})

test('a beat that is wanted sooner comes at once, yet not more often than every 20 ms', async () => {
  const { clock, loop, seen } = createPulse()
  await loop.service.start()
  await clock.advance(100)
  loop.soon()
  await clock.advance(5)
  assert.deepEqual(seen, [0, 100])
  for (let nth = 0; nth < 20; nth += 1) {
    loop.soon()
    await clock.advance(5)
  }
  assert.ok(seen.length <= 8, `it beat at ${seen.join(', ')}`)
  await loop.service.stop()
})

test('a beat that is wanted while one is under way follows it', async () => {
  const { clock, loop, seen } = createPulse({ slow: [2] })
  await loop.service.start()
  await clock.advance(PULSE_MS + 50)
  loop.soon()
  await clock.advance(70)
  assert.deepEqual(seen, [0, PULSE_MS + 100, PULSE_MS + 120])
  await loop.service.stop()
})

test('a start is patient with a store that answers its first beat late', async () => {
  const { clock, loop, seen } = createPulse({ late: [1] })
  const started = loop.service.start()
  await clock.advance(800)
  await started
  assert.deepEqual(seen, [800])
  await loop.service.stop()
})

test('a start whose first beat fails leaves nothing running, and can be repeated', async () => {
  const { clock, loop, seen } = createPulse({ failing: [1] })
  await assert.rejects(loop.service.start(), /locked/)
  assert.deepEqual([loop.service.state, clock.pending], ['failed', 0])
  await loop.service.start()
  assert.deepEqual([loop.service.state, seen], ['running', [0]])
  await loop.service.stop()
})
