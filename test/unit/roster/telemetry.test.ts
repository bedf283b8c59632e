// What a member tells of its part in the roster, as the meter hears it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

test('a member tells when it begins and ceases to lead', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  const second = await cluster.add()
  await cluster.clock.advance(2000)
  const terms: string[] = []
  for (const { name, race } of [first, second]) {
    race.telemetry.on('roster.leading', ({ term }) => void terms.push(`${name} ${term}`))
  }
  await cluster.store.roster.stepDown(first.race.roster.id)
  // The second one's beat comes first, and takes the lease.
  await cluster.store.pulse({ beat: second.race.roster.beat(), pools: [] })
  await cluster.clock.advance(1000)
  assert.deepEqual(new Set(terms), new Set(['m1 null', 'm2 2']))
  assert.deepEqual([first.race.roster.leads, second.race.roster.leads], [false, true])
  await cluster.stop()
})

test('a member tells how many partitions it holds, and none once it left', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  const held: number[] = []
  first.race.telemetry.on('roster.held', ({ partitions }) => void held.push(partitions))
  await cluster.clock.advance(500)
  const second = await cluster.add()
  await cluster.clock.advance(2000)
  assert.equal(held.at(-1), 16)
  await first.race.stop()
  first.isGone = true
  assert.equal(held.at(-1), 0)
  await cluster.clock.advance(1000)
  assert.equal(second.held().length, 32)
  await cluster.stop()
})

test('a member that is asked to look does so with a pulse at once, though nothing has changed', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  await cluster.clock.advance(2000)
  const before = first.race.roster.view
  first.race.roster.look()
  await cluster.clock.advance(25)
  assert.notEqual(first.race.roster.view, before)
  await cluster.stop()
})
