// A hand-over that the store refused, or did not answer, is made again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../src/testing/cluster.ts'

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
