// What the memory store's roster does in one step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../../src/fault.ts'
import { createCommit } from '../../../../src/stores/memory/commit.ts'
import { MemoryRoster } from '../../../../src/stores/memory/roster.ts'
import { RESOURCE, asMember, change, decision, held } from '../../../../src/testing/roster-driver.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

test('[G3] to leave is one step: nobody sees a part of it', async () => {
  const clock = new VirtualClock()
  const roster = new MemoryRoster({ clock, commit: createCommit(noFaults), hint: () => undefined })
  for (const id of ['a', 'b']) await roster.join(asMember(id), [RESOURCE])
  roster.beat({ member: 'a', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] })
  await roster.decide(decision({ changes: [change(0, null, held('a', 1))] }))
  const leaving = roster.leave('a', [
    { resource: RESOURCE.name, partition: 0, epoch: 1, next: null, to: 'b' },
  ])
  const seen = await roster.view()
  await leaving
  assert.deepEqual(
    [seen.members.map(({ id }) => id), seen.allotments[0]?.owner, seen.leader?.expiresAt],
    [['b'], 'b', clock.now()],
  )
  assert.equal(seen.version, (await roster.view()).version)
})
