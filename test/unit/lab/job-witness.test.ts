// The work of all members together: who settles, marks or tells without the fence, and what is started late, is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fence, poolResource } from '../../../src/fence.ts'
import { JobWitness } from '../../../src/lab/simulation/job-witness.ts'
import { JOBS } from '../../../src/lab/simulation/jobs.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import type { Settlement } from '../../../src/pool/settle.ts'
import type { MarkAnswer } from '../../../src/pool/store.ts'
import type { Store } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { madeOf, takenOf } from './made-up.ts'

const TAKEN = takenOf(1)
const DONE: Settlement = { ...TAKEN, outcome: { kind: 'done' } }
const PROGRESS = { key: TAKEN.key, slot: null, turn: 1, progress: '1' }
const claimOf = (owner: string) => ({ owner, held: [{ partition: 1, epoch: 1 }] })

/** A store that answers each call as it is told to, in which m1 holds the fence of jobs and m2 that of ticks. */
async function watched(marks: MarkAnswer['result'] = 'marked') {
  const clock = new VirtualClock()
  const said: string[] = []
  const owners = new Map([
    [poolResource(JOBS), 'm1'],
    [poolResource('ticks'), 'm2'],
  ])
  const fenceOf = (resource: string, partition: number): Fence => {
    return { partition, epoch: 1, owner: owners.get(resource) ?? '', raisedAt: 0 }
  }
  const say = (violation: string): void => void said.push(violation)
  const witness = new JobWitness({ storeClock: clock, slowestMs: 0, races: noRaces(), fenceOf, say })
  const entries = {
    take: () => Promise.resolve({ now: 0, runs: [TAKEN], nextDueAt: null }),
    settle: () => Promise.resolve([{ result: 'settled', nextDueAt: null }]),
    mark: () => Promise.resolve([{ result: marks, nextDueAt: null }]),
  }
  const progress = { tell: () => Promise.resolve(1) }
  const { pool } = witness.wrap({ pool: { entries, progress } } as unknown as Store)
  const request = { partitions: [1], lane: 'normal', from: 0, limit: 1 } as const
  for (const name of [JOBS, 'ticks']) await pool.entries.take(name, request)
  return { clock, witness, pool, said }
}

test('[P5] a settle by one who does not hold the fence is found', async () => {
  const { pool, said } = await watched()
  await pool.entries.settle(JOBS, [DONE], claimOf('m1'))
  assert.deepEqual(said, [])
  await pool.entries.settle(JOBS, [DONE], claimOf('m2'))
  assert.match(said.join(), /^\[P5\] m2 settled k1 of partition 1/)
})

test('[P5] what is settled, marked or told of another pool is not judged by the fences of jobs', async () => {
  const { pool, said } = await watched()
  await pool.entries.settle('ticks', [DONE], claimOf('m2'))
  await pool.entries.mark('ticks', [{ ...TAKEN, crashes: 1 }], claimOf('m2'))
  await pool.progress.tell('ticks', [PROGRESS], claimOf('m2'))
  assert.deepEqual(said, [])
})

test('[X41] a mark of one who does not hold the fence, and one of its holder that is refused, are found', async () => {
  const mark = { ...TAKEN, crashes: 1 }
  const lax = await watched('marked')
  await lax.pool.entries.mark(JOBS, [mark], claimOf('m1'))
  assert.deepEqual(lax.said, [])
  await lax.pool.entries.mark(JOBS, [mark], claimOf('m2'))
  assert.match(lax.said.join(), /^\[P5\] m2 marked k1/)
  const strict = await watched('refused')
  await strict.pool.entries.mark(JOBS, [mark], claimOf('m2'))
  assert.deepEqual(strict.said, [])
  await strict.pool.entries.mark(JOBS, [mark], claimOf('m1'))
  assert.match(strict.said.join(), /^\[X41\] a mark of k1 by m1 was refused/)
})

test('[Z5] what is kept of one who does not hold the fence is found', async () => {
  const { pool, said } = await watched()
  await pool.progress.tell(JOBS, [PROGRESS], claimOf('m1'))
  assert.deepEqual(said, [])
  await pool.progress.tell(JOBS, [PROGRESS], claimOf('m2'))
  assert.match(said.join(), /^\[Z5\] m2 told of 1 runs, and holds the fences of 0/)
})

test('[X10] what falls due when it is calm, and is started more than a second later, is found', async () => {
  const { clock, witness } = await watched()
  witness.heal()
  const calmFrom = clock.now()
  await clock.advance(2000)
  const startedLate = (turn: number, ms: number): void =>
    witness.started(madeOf({ taken: takenOf(turn, { dueAt: clock.now() - ms }) }))
  startedLate(1, 1000)
  startedLate(2, 2000)
  assert.deepEqual(witness.judge(calmFrom), [])
  startedLate(3, 1001)
  assert.match(witness.judge(calmFrom).join(), /^\[X10\] k3 was started 1001 ms late/)
})
