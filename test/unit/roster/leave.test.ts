// How a member leaves when that takes its time, or when it had only half come.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

const LEASE_MS = 3000

async function openCluster(size: number): Promise<Cluster> {
  const cluster = new Cluster()
  for (let nth = 0; nth < size; nth += 1) await cluster.add()
  await cluster.clock.advance(2000)
  return cluster
}

test('[H3] [H4] a stop that waits for work longer than a lease goes on to beat, and hands over after it', async () => {
  const cluster = await openCluster(2)
  const [first, second] = cluster.members
  assert.ok(first !== undefined && second !== undefined)
  const ownership = first.race.roster.share({ name: 'pool/ticks', partitions: 32 })
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const use = ownership.use(() => promise)
  const stopped = first.race.stop()
  await cluster.clock.advance(2 * LEASE_MS)
  assert.deepEqual([second.held().length, (await cluster.store.roster.view()).members.length], [16, 2])
  resolve(undefined)
  await use
  await cluster.clock.advance(1000)
  await stopped
  first.isGone = true
  assert.equal(second.held().length, 32)
  await cluster.stop()
})

test('a stop after a start that failed at its first pulse leaves the roster', async () => {
  const cluster = new Cluster()
  const pulse = cluster.store.pulse.bind(cluster.store)
  cluster.store.pulse = () => Promise.reject(new Error('no pulse'))
  await assert.rejects(cluster.add(), /no pulse/)
  cluster.store.pulse = pulse
  assert.equal((await cluster.store.roster.view()).members.length, 1)
  await cluster.members[0]?.race.stop()
  assert.deepEqual((await cluster.store.roster.view()).members, [])
})
