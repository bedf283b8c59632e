// What a member holds, and answers that come when it holds something else by now.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ownership } from '../../../src/roster/ownership.ts'
import { Trust } from '../../../src/roster/trust.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** A member that holds partition 0 under this epoch. */
function holding(epoch: number): { ownership: Ownership; grant(epoch: number): void } {
  const clock = new VirtualClock()
  const trust = new Trust(clock, 10_000)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  const ownership = new Ownership({
    resource: { name: 'pool/ticks', partitions: 1 },
    clock,
    telemetry: createTelemetry('m'),
    trust,
    owner: () => 'm',
    look: () => undefined,
  })
  const grant = (granted: number): void => {
    const allotment = { resource: 'pool/ticks', partition: 0, owner: 'm', next: null, since: 0, moves: 0 }
    const asked = ownership.follow([{ ...allotment, epoch: granted }])
    ownership.raised(asked, [{ partition: 0, raised: true, epoch: granted, suspects: 0 }])
  }
  grant(epoch)
  return { ownership, grant }
}

test('[H1] V5: an answer to a write of an older epoch says nothing of what is held by now', async () => {
  const { ownership, grant } = holding(1)
  await ownership.use(async (claim) => {
    assert.deepEqual(claim.held, [{ partition: 0, epoch: 1 }])
    grant(3)
    ownership.lose(claim, [0])
  })
  assert.deepEqual(ownership.claim().held, [{ partition: 0, epoch: 3 }])
})

test('[H1] V5: a raise of an older epoch that is answered late gives nothing', () => {
  const { ownership, grant } = holding(1)
  grant(3)
  ownership.lose(ownership.claim(), [0])
  ownership.raised([{ partition: 0, epoch: 1 }], [{ partition: 0, raised: true, epoch: 1, suspects: 0 }])
  assert.deepEqual(ownership.claim().held, [])
})
