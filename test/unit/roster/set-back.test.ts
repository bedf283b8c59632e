// Members on a store whose clock is set back for good: the dead are found as soon as ever, and the living stay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

const LEASE_MS = 3000
const BACK_MS = [1000, 2000, 3000, 4000, 3_600_000]

async function openCluster(runMs: number): Promise<Cluster> {
  const cluster = new Cluster()
  for (let nth = 0; nth < 3; nth += 1) await cluster.add()
  await cluster.clock.advance(runMs)
  return cluster
}

function ids({ members }: Cluster): string[] {
  return members.filter(({ isGone }) => !isGone).map(({ race }) => race.roster.id)
}

/** Every partition has an owner that lives and holds it. */
async function assertShared(cluster: Cluster): Promise<void> {
  const living = cluster.members.filter(({ isGone }) => !isGone)
  for (const [partition, owner] of (await cluster.owners()).entries()) {
    const holders = living.filter((member) => member.held().includes(partition)).map(({ name }) => name)
    assert.deepEqual(holders, [owner], `partition ${partition}`)
  }
}

for (const victim of [0, 1]) {
  const who = victim === 0 ? 'leader' : 'member'
  // Also just after the start, whose gap then lies in the future.
  for (const runMs of [1000, 60_000]) {
    test(`[K6] a ${who} that dies ${runMs} ms after the start as the clock is set back costs nobody else a place`, async () => {
      for (const backMs of BACK_MS) {
        const cluster = await openCluster(runMs)
        assert.equal(cluster.members[0]?.race.roster.leads, true)
        cluster.members[victim]?.kill()
        cluster.clock.jumpWall(-backMs)
        const before = ids(cluster)
        // A lease for the leader's, where it is the leader, and one more until it is judged.
        await cluster.clock.advance(2 * LEASE_MS + 1400)
        await assertShared(cluster)
        assert.equal((await cluster.store.roster.view()).members.length, 2, `${backMs} ms`)
        assert.deepEqual(ids(cluster), before)
        await cluster.stop()
      }
    })
  }
}

test('[K5] [K6] an outage in which the clock is set back, by however much, moves nothing', async () => {
  for (const backMs of [1000, 9000, 9600, 10_000, 11_000, 3_600_000]) {
    const cluster = await openCluster(20_000)
    const before = ids(cluster)
    cluster.isDown = true
    await cluster.clock.advance(5000)
    cluster.clock.jumpWall(-backMs)
    await cluster.clock.advance(5000)
    cluster.isDown = false
    await cluster.clock.advance(3 * LEASE_MS)
    assert.deepEqual(ids(cluster), before, `${backMs} ms`)
    await assertShared(cluster)
    await cluster.stop()
  }
})
