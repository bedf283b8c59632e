// What listeners throw reaches nobody but the report.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { HeadraceError } from '../../src/errors.ts'
import { Listeners } from '../../src/listeners.ts'
import { Cluster } from '../../src/testing/cluster.ts'

test('[H7] a listener that throws, or whose promise is rejected, is reported, and the others are told', async () => {
  const errors: unknown[] = []
  const listeners = new Listeners<[number]>((error) => errors.push(error))
  const told: number[] = []
  listeners.add(() => {
    throw new HeadraceError('internal', 'thrown')
  })
  listeners.add(() => Promise.reject(new HeadraceError('internal', 'rejected')))
  const stop = listeners.add((what) => told.push(what))
  listeners.tell(1)
  stop()
  listeners.tell(2)
  await new Promise<void>((resolve) => systemClock.turn(resolve))
  assert.deepEqual(told, [1])
  assert.deepEqual(errors.map((error) => (error as Error).message).toSorted(), [
    'rejected',
    'rejected',
    'thrown',
    'thrown',
  ])
})

test('[H7] a member whose listeners throw joins, holds its share, hands over and leaves', async () => {
  const cluster = new Cluster()
  const fail = (): never => {
    throw new Error('a listener of the user')
  }
  const first = await cluster.add()
  first.race.own('reports').watch(fail)
  cluster.store.watch(fail)
  let failures = 0
  first.race.telemetry.on('listener.failed', () => void (failures += 1))
  await cluster.clock.advance(1000)
  const second = await cluster.add()
  second.race.own('reports').watch(fail)
  await cluster.clock.advance(3000)
  const held = (member: typeof first): number => member.race.own('reports').claim().held.length
  assert.deepEqual([held(first), held(second), failures > 0], [16, 16, true])
  await first.race.stop()
  first.isGone = true
  await cluster.clock.advance(1000)
  assert.equal(held(second), 32)
  await cluster.stop()
})
