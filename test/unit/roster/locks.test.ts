// Locks as users hold them, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'

async function openTwo(): Promise<{ cluster: Cluster; a: ClusterMember; b: ClusterMember }> {
  const cluster = new Cluster()
  return { cluster, a: await cluster.add(), b: await cluster.add() }
}

test('[N1] one member holds a lock at a time, and the next one has a higher token', async () => {
  const { cluster, a, b } = await openTwo()
  const first = await a.race.lock('report')
  assert.deepEqual([first?.token, first?.isHeld, await b.race.lock('report')], [1, true, null])
  await first?.release()
  await first?.release()
  const second = await b.race.lock('report')
  assert.deepEqual([second?.token, first?.isHeld], [2, false])
  await second?.release()
  await cluster.stop()
})

test('[N1] who waits gets the lock when it is free, or null when its time is over', async () => {
  const { cluster, a, b } = await openTwo()
  const first = await a.race.lock('report')
  const late = b.race.lock('report', { wait: '1s' })
  const patient = b.race.lock('report', { wait: '10s' })
  await cluster.clock.advance(1200)
  assert.equal(await late, null)
  await first?.release()
  await cluster.clock.advance(200)
  assert.equal((await patient)?.token, 2)
  await (await patient)?.release()
  await cluster.stop()
})

test('[N2] a lock is renewed as long as its holder lives, and lost when it cannot be', async () => {
  const { cluster, a, b } = await openTwo()
  const lock = await a.race.lock('report', { ttl: '3s' })
  assert.ok(lock !== null)
  await cluster.clock.advance(60_000)
  assert.deepEqual([lock.isHeld, lock.signal.aborted, await b.race.lock('report')], [true, false, null])
  a.isCut = true
  await cluster.clock.advance(2600)
  assert.equal(lock.isHeld, false)
  await cluster.clock.advance(1400)
  assert.equal(lock.signal.aborted, true)
  const next = await b.race.lock('report')
  assert.equal(next?.token, 2)
  a.isCut = false
  await next?.release()
  await cluster.stop()
})

test('a lock with a ttl that cannot be renewed in time is refused', async () => {
  const { cluster, a } = await openTwo()
  await assert.rejects(a.race.lock('report', { ttl: 50 }), { code: 'invalid_input' })
  await assert.rejects(a.race.lock('bad name!'), { code: 'invalid_options' })
  await cluster.stop()
})
