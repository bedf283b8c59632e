// A hand-over that the store refused, or did not answer, is made again; one that was withdrawn is not made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandOver } from '../../../src/roster/hand-over.ts'
import { Ownership } from '../../../src/roster/ownership.ts'
import { Trust } from '../../../src/roster/trust.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { Cluster } from '../../../src/testing/cluster.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** A member that holds partition 0 under an epoch, and the calls of its hand-overs. */
function holding(): { ownership: Ownership; handOver: HandOver; calls: string[]; clock: VirtualClock } {
  const clock = new VirtualClock()
  const trust = new Trust(clock, 60_000)
  trust.renew({ mono: clock.mono(), wall: clock.now() })
  const resource = { name: 'pool/work', partitions: 1 }
  const telemetry = createTelemetry('m')
  const look = (): void => undefined
  const ownership = new Ownership({ resource, clock, telemetry, trust, owner: () => 'm', look })
  ownership.concurrency = 1
  const calls: string[] = []
  const { store } = new Cluster()
  store.fences.release = async (_, { held }) => void calls.push(`release ${held[0]?.epoch}`)
  store.roster.grant = async (_, grants) => grants.map(({ epoch }) => calls.push(`grant ${epoch}`) > 0)
  const unfinished = (): void => undefined
  const parts = { store, telemetry, drainWithinMs: 30_000, owner: () => 'm', unfinished }
  return { ownership, handOver: new HandOver(parts), calls, clock }
}

test('[A4] [X43] a hand-over that was withdrawn while it waited for runs releases and hands over nothing', async () => {
  const { ownership, handOver, calls, clock } = holding()
  const allotment = { resource: 'pool/work', partition: 0, owner: 'm', since: 0, moves: 0 }
  const follow = (epoch: number, next: string | null): Promise<void> => {
    const mine = [{ ...allotment, epoch, next }]
    ownership.raised(ownership.follow(mine), [{ partition: 0, raised: true, epoch, suspects: 0 }])
    return handOver.begin(ownership, mine)
  }
  await follow(1, null)
  ownership.beginRun({ partition: 0, epoch: 1 })
  const first = follow(1, 'other')
  await clock.advance(1000)
  await follow(2, null)
  ownership.endRun({ partition: 0, epoch: 1 })
  await clock.advance(1000)
  await first
  assert.deepEqual(calls, [])
  await follow(2, 'other')
  assert.deepEqual(calls, ['release 2', 'grant 2'])
})

test('[A3] a hand-over that failed is made again', async (context) => {
  const cluster = new Cluster()
  const { roster } = cluster.store
  const grant = roster.grant.bind(roster)
  let calls = 0
  context.mock.method(roster, 'grant', async (...asked: Parameters<typeof grant>) => {
    calls += 1
    if (calls === 1) throw new Error('the store is busy')
    return grant(...asked)
  })
  const first = await cluster.add()
  await cluster.clock.advance(2000)
  const second = await cluster.add()
  await cluster.clock.advance(2000)
  assert.ok(calls > 1)
  assert.deepEqual([first.held().length, second.held().length], [16, 16])
  await cluster.stop()
})
