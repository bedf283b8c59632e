// What must come right again by itself: moves that are called off, calls that fail or come at a bad moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

test('[A4] V14: a partition whose revoke was withdrawn while its work drained is worked on again', async () => {
  const cluster = new Cluster()
  const first = await cluster.add()
  await cluster.clock.advance(5000)
  const ownership = first.race.roster.share({ name: 'pool/ticks', partitions: 32 })
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const use = ownership.use(() => promise)
  const second = await cluster.add()
  await cluster.clock.advance(600)
  second.kill()
  await cluster.clock.advance(5000)
  resolve(undefined)
  await use
  await cluster.clock.advance(1000)
  assert.equal(first.held().length, 32)
  await cluster.stop()
})
