// Three members on one PostgreSQL share the work, whatever becomes of one of them; one crew goes through all of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMember } from './add-member.ts'
import { breaches, describeOwnership } from './audit.ts'
import { describeFindings } from './check-ticks.ts'
import { Crew } from './crew.ts'
import { killMembers } from './kill-members.ts'
import { pauseMembers, servePausable } from './pause-members.ts'
import { restartStore } from './restart-store.ts'
import { stopMembers } from './stop-members.ts'
import { wrongClock } from './wrong-clock.ts'

const leaseMs = 1000
/** How fast is shown by the proof: this machine may be busy with others. */
const TAKEN_WITHIN_MS = 20_000

test('[F4] members come, stop, die and stand still, the store restarts: one owner at a time, every tick once', async () => {
  await using crew = await Crew.of(3, { connections: 10, serve: servePausable })
  const added = await addMember(crew)
  assert.ok(added.movedToIt <= 8, `${added.movedToIt} moved to the fourth`)
  assert.deepEqual([added.movedFromIt, added.movedBeside], [added.movedToIt, 0])
  const { moves, epochs, answeredAfter } = await restartStore(crew, { awayMs: 1300, leaseMs })
  assert.deepEqual([moves, epochs, answeredAfter > 0], [0, 0, true])
  const { codes, handedOverMs } = await stopMembers(crew, 1)
  assert.deepEqual(codes, [0])
  assert.ok(Math.max(...handedOverMs) < TAKEN_WITHIN_MS, `handed over after ${handedOverMs.join(' ')} ms`)
  const { takenOverMs } = await killMembers(crew, { kills: 1, apartMs: [0, 0], restartAfterMs: leaseMs })
  assert.ok(Math.max(...takenOverMs) < TAKEN_WITHIN_MS, `taken over after ${takenOverMs.join(' ')} ms`)
  assert.equal(await pauseMembers(crew, 2), 1)
  const { findings, seed, ownership, deadlocks } = await crew.judge()
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.equal(breaches(ownership), 0, describeOwnership(ownership))
  assert.ok(ownership.refused > 0 && ownership.wrote > 100, describeOwnership(ownership))
  assert.equal(deadlocks, 0)
})

test('[T2] a member whose clock is an hour behind fires nothing early, and leaves nothing behind', async () => {
  const { findings, seed, share, ownership } = await wrongClock({
    hours: -1,
    forMs: 1500,
    args: ['--lease', '1s'],
  })
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.ok(share >= 10, `it had ${share} partitions`)
  assert.equal(breaches(ownership), 0, describeOwnership(ownership))
})
