// Outages of the simulated store that overlap.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import { Trouble } from '../../../src/lab/simulation/trouble.ts'
import { MemberClock } from '../../../src/testing/member-clock.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

test('of outages that overlap the last to end ends them', async () => {
  const clock = new VirtualClock(1)
  const storeClock = new MemberClock(clock)
  const trouble = new Trouble({ clock, storeClock, races: noRaces(), leaseMs: 3000 })
  const seen: boolean[] = []
  trouble.outage(1000)
  trouble.outage(2000)
  trouble.outage(500)
  for (let ms = 0; ms < 3000; ms += 700) {
    seen.push(trouble.isDown)
    await clock.advance(700)
  }
  assert.deepEqual(seen, [true, true, true, false, false])
})
