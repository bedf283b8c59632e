// Members of a store whose generation changes, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

test('[G6] a member that meets another generation gives up what it holds, and joins under another id', async () => {
  const cluster = new Cluster()
  let generation = 'first'
  const { pulse } = cluster.store
  cluster.store.pulse = async (request) => ({ ...(await pulse(request)), generation })
  const [one, two] = [await cluster.add(), await cluster.add()]
  await cluster.clock.advance(2000)
  const before = [one, two].map(({ race }) => race.roster.id)
  const lost: string[] = []
  for (const { race } of [one, two]) race.telemetry.on('roster.lost', ({ id }) => void lost.push(id))
  await cluster.clock.advance(2000)
  assert.deepEqual(lost, [])
  generation = 'second'
  await cluster.clock.advance(600)
  assert.deepEqual(new Set(lost), new Set(before))
  await cluster.clock.advance(10_000)
  assert.equal(lost.length, 2, 'once each')
  const held = [one, two].map((member) => member.held().length)
  assert.deepEqual(held, [16, 16])
  await cluster.stop()
})
