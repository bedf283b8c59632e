import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Alarm } from '../../src/alarm.ts'
import { START, VirtualClock } from '../../src/testing/virtual-clock.ts'

interface Sleeper {
  clock: VirtualClock
  alarm: Alarm
  stop: AbortController
  /** Sleeps, and tells by `awake` when it ended. */
  sleep(at: number | null, atLeastMs?: number): void
  awake(): number | null
}

function createSleeper(): Sleeper {
  const clock = new VirtualClock()
  const alarm = new Alarm(clock)
  const stop = new AbortController()
  let awakeAt: number | null = null
  const sleep = (at: number | null, atLeastMs = 0): void => {
    void alarm.sleepUntil(at, atLeastMs, stop.signal).then(() => (awakeAt = clock.now()))
  }
  return { clock, alarm, stop, sleep, awake: () => awakeAt }
}

test('it wakes at its time, however far', async () => {
  const { clock, sleep, awake } = createSleeper()
  sleep(START + 100_000)
  await clock.advance(99_999)
  assert.equal(awake(), null)
  await clock.advance(1)
  assert.equal(awake(), START + 100_000)
})

test('a hint between the look and the sleep is not lost', async () => {
  const { clock, alarm, sleep, awake } = createSleeper()
  alarm.reset()
  alarm.wakeBy(START + 10)
  sleep(START + 1000)
  await clock.advance(20)
  assert.equal(awake(), START + 10)
})

test('a hint wakes a sleeper that has no time of its own', async () => {
  const { clock, alarm, sleep, awake } = createSleeper()
  sleep(null)
  await clock.advance(100_000)
  assert.equal(awake(), null)
  alarm.wakeBy(clock.now() + 3)
  await clock.advance(3)
  assert.equal(awake(), START + 100_003)
})

test('a later hint does not put off an earlier time', async () => {
  const { clock, alarm, sleep, awake } = createSleeper()
  sleep(START + 10)
  await clock.advance(1)
  alarm.wakeBy(START + 500)
  await clock.advance(9)
  assert.equal(awake(), START + 10)
})

test('it sleeps at least as long as asked, whatever the hints', async () => {
  const { clock, alarm, sleep, awake } = createSleeper()
  sleep(START, 5)
  alarm.wakeBy(START)
  await clock.advance(4)
  assert.equal(awake(), null)
  await clock.advance(1)
  assert.equal(awake(), START + 5)
})

test('a wall clock that was set forward is noticed within ten seconds', async () => {
  const { clock, sleep, awake } = createSleeper()
  sleep(START + 3_600_000)
  await clock.advance(1)
  clock.jumpWall(3_600_000)
  await clock.advance(10_000)
  assert.notEqual(awake(), null)
})

test('a stop ends the sleep at once and leaves no timer behind', async () => {
  const { clock, stop, sleep, awake } = createSleeper()
  sleep(START + 1000, 5)
  await clock.advance(7)
  stop.abort()
  await clock.settle()
  assert.deepEqual([awake(), clock.pending], [START + 7, 0])
})
