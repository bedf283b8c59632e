// Overlap, looked at from outside while members come, go, drain, stall and lose the store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overlapsOf } from '../../../src/roster/overlap.ts'
import { timingOf } from '../../../src/roster/settings.ts'
import { Cluster } from '../../../src/testing/cluster.ts'

const timing = timingOf(3000)
const RESOURCE = 'pool/ticks'

async function overlaps(cluster: Cluster): Promise<unknown[]> {
  const view = await cluster.store.roster.view()
  const fences = await cluster.store.fences.fences(RESOURCE)
  return overlapsOf(view, new Map([[RESOURCE, fences]]), timing.trustMs)
}

/** Lets time pass in small steps, and looks after each. */
async function pass(cluster: Cluster, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5) {
    await cluster.clock.advance(5)
    assert.deepEqual(await overlaps(cluster), [])
  }
}

test('[O1] nothing overlaps while members come, drain, stall, die and leave', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  await pass(cluster, 600)
  const second = await cluster.add()
  const third = await cluster.add()
  await pass(cluster, 1500)
  await cluster.store.roster.drain(second.race.roster.id, true)
  await pass(cluster, 1500)
  await cluster.store.roster.drain(second.race.roster.id, false)
  await pass(cluster, 1000)
  second.pause()
  await pass(cluster, 5000)
  second.resume()
  await pass(cluster, 2000)
  cluster.isDown = true
  await pass(cluster, 4000)
  cluster.isDown = false
  await pass(cluster, 2000)
  third.kill()
  await pass(cluster, 5000)
  await first.race.stop()
  first.isGone = true
  await pass(cluster, 2000)
  assert.equal(second.held().length, 32)
  await cluster.stop()
})

test('[O1] a fence raised past a member that goes on beating is seen', async () => {
  const cluster = new Cluster()
  const member = await cluster.add()
  await cluster.clock.advance(1000)
  await cluster.store.fences.raise(RESOURCE, { owner: 'thief', held: [{ partition: 3, epoch: 9 }] })
  assert.deepEqual(await overlaps(cluster), [])
  await cluster.clock.advance(600)
  const [seen, ...others] = await overlaps(cluster)
  assert.deepEqual(seen, {
    resource: RESOURCE,
    partition: 3,
    member: member.race.roster.id,
    epoch: 1,
    fence: { owner: 'thief', epoch: 9 },
  })
  assert.deepEqual(others, [])
  await cluster.stop()
})
