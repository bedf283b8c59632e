// Locks as users hold them, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../src/fault.ts'
import { Locks } from '../../../src/roster/locks.ts'
import type { LockStore } from '../../../src/roster/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

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

test('[N3] a stop ends the waiting for locks, and gives back those that are held', async () => {
  const { cluster, a, b } = await openTwo()
  const kept = await b.race.lock('kept')
  const lock = await a.race.lock('report')
  const waiting = b.race.lock('report', { wait: '1h' })
  await cluster.clock.advance(300)
  b.isGone = true
  const stopped = b.race.stop().then(() => 'stopped')
  await cluster.clock.advance(1000)
  assert.equal(await Promise.race([stopped, cluster.clock.sleep(0)]), 'stopped')
  assert.deepEqual([await waiting, kept?.isHeld], [null, false])
  assert.equal((await a.race.lock('kept'))?.token, 2)
  await lock?.release()
  await cluster.stop()
})

test('[N3] a lock that is released while it is renewed is free, whichever of both lands first', async () => {
  const clock = new VirtualClock()
  const { locks } = openMemoryStore({ clock, telemetry: createTelemetry('locks'), faults: noFaults })
  let calls = 0
  const slow: LockStore = {
    acquire: async (request) => {
      calls += 1
      if (calls > 1) await clock.sleep(100)
      return locks.acquire(request)
    },
    release: (name, holder) => locks.release(name, holder),
    held: () => locks.held(),
  }
  const lock = await new Locks({ store: { locks: slow }, clock }).take('report', { ttl: '3s' })
  await clock.advance(1050)
  const released = lock?.release()
  await clock.advance(100)
  await released
  assert.deepEqual([calls, await locks.held(), clock.pending], [2, [], 0])
})
