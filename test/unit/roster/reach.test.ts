// Where others reach a member: told before it joins, after it, and when it joins anew.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

const AT = 'http://127.0.0.1:7401'

async function addressesOf({ store }: Cluster): Promise<(string | null)[]> {
  return (await store.roster.view()).members.map(({ address }) => address)
}

test('[G5] an address that is told before the join, or while it runs, stands in the roster until it is taken back', async () => {
  const cluster = new Cluster()
  await cluster.add({}, ({ race }) => race.roster.reachAt(AT))
  assert.deepEqual(await addressesOf(cluster), [AT])
  const { race } = await cluster.add({ address: 'http://given:7400' })
  race.roster.reachAt('http://127.0.0.1:7402')
  await cluster.clock.advance(1000)
  assert.deepEqual(await addressesOf(cluster), [AT, 'http://127.0.0.1:7402'])
  race.roster.reachAt(null)
  await cluster.clock.advance(1000)
  assert.deepEqual(await addressesOf(cluster), [AT, 'http://given:7400'])
  await cluster.stop()
})

test('[G5] a member that was declared dead, and joins anew, is reached where it was', async () => {
  const cluster = new Cluster()
  await cluster.add()
  const member = await cluster.add()
  member.race.roster.reachAt(AT)
  await cluster.clock.advance(2000)
  const { id } = member.race.roster
  member.isCut = true
  await cluster.clock.advance(20_000)
  assert.deepEqual(await addressesOf(cluster), [null])
  member.isCut = false
  await cluster.clock.advance(5000)
  assert.notEqual(member.race.roster.id, id)
  assert.deepEqual(await addressesOf(cluster), [null, AT])
  await cluster.stop()
})

test('[G5] an address that the store did not take is told again', async () => {
  const cluster = new Cluster()
  const { race } = await cluster.add()
  await cluster.clock.advance(1000)
  const { roster } = cluster.store
  const reach = roster.reach.bind(roster)
  let refusals = 2
  roster.reach = async (...given) => {
    refusals -= 1
    if (refusals >= 0) throw new Error('the store is away')
    return reach(...given)
  }
  race.roster.reachAt(AT)
  await cluster.clock.advance(3000)
  assert.deepEqual(await addressesOf(cluster), [AT])
  await cluster.stop()
})
