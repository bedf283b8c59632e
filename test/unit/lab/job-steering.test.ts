// When a worker may wait for what steers its pool, as it is seen from outside.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobSteering } from '../../../src/lab/simulation/job-steering.ts'
import { JOBS } from '../../../src/lab/simulation/jobs.ts'
import type { Store } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

test('[L12] runs may wait while what steers the pool is being read, and in the moment of the answer', async () => {
  const clock = new VirtualClock()
  const steering = new JobSteering(clock)
  const { promise, resolve } = Promise.withResolvers<void>()
  const control = { read: () => promise }
  const store = steering.wrap({ pool: { control } } as unknown as Store)
  assert.equal(steering.isBeingRead, false)
  const other = store.pool.control.read('ticks')
  assert.equal(steering.isBeingRead, false)
  const read = store.pool.control.read(JOBS)
  await clock.advance(10)
  assert.equal(steering.isBeingRead, true)
  resolve()
  await Promise.all([read, other])
  assert.equal(steering.isBeingRead, true)
  await clock.advance(1)
  assert.equal(steering.isBeingRead, false)
})
