// The store's time as a process knows it, whose answers may overtake each other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreTime } from '../../src/store-time.ts'
import { START, VirtualClock } from '../../src/testing/virtual-clock.ts'

test('[K6] an answer that was overtaken does not bring back the time from before a clock was set back', async () => {
  const clock = new VirtualClock()
  const time = new StoreTime(clock)
  time.hear(START, START)
  await clock.advance(1000)
  const late = clock.now()
  await clock.advance(1000)
  time.hear(clock.now() - 3_600_000, clock.now())
  assert.equal(time.now(), clock.now() - 3_600_000 + 1)
  time.hear(late, late)
  assert.equal(time.now(), clock.now() - 3_600_000 + 1)
})

test('[K6] what is answered after the clock of the process itself was set back is heard', async () => {
  const clock = new VirtualClock()
  const time = new StoreTime(clock)
  await clock.advance(5000)
  time.hear(START + 5000, START + 5000)
  clock.jumpWall(-3000)
  time.hear(START + 5000, clock.now())
  assert.equal(time.now(), START + 5000 - 1)
})
