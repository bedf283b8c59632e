// What a hand-over waits for: one that comes too early is found.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolResource } from '../../../src/fence.ts'
import type { Conduct } from '../../../src/lab/simulation/conduct.ts'
import { JobHandOver } from '../../../src/lab/simulation/job-hand-over.ts'
import { JOBS } from '../../../src/lab/simulation/jobs.ts'
import type { Made } from '../../../src/lab/simulation/made.ts'
import type { Store } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { madeOf, takenOf } from './made-up.ts'

const RESOURCE = poolResource(JOBS)
const HELD = { partition: 1, epoch: 1 }

interface Situation {
  runs: Made[]
  marks: boolean
  afterMs: number
  leavingAt?: number
  revokedAt?: number
}

/** What is said of a hand-over, after some time, of a partition of which a run or a mark is under way. */
async function handedOver({
  runs,
  marks,
  afterMs,
  leavingAt = Infinity,
  revokedAt = 0,
}: Situation): Promise<string> {
  const clock = new VirtualClock()
  const said: string[] = []
  const conduct = { revokedAt: () => revokedAt, mayBeLost: () => false, wasRaised: () => false }
  const marking = { taken: takenOf(2), lane: 'normal', epoch: 1, sentAt: 0, since: 0 } as const
  const handOver = new JobHandOver({
    clock,
    conduct: conduct as unknown as Conduct,
    drainWithinMs: 500,
    life: { name: 'm1', leavingAt },
    running: new Set(runs),
    settling: new Set(),
    marking: () => (marks ? [marking] : []),
    say: (violation) => said.push(violation),
  })
  const roster = { grant: () => Promise.resolve([true]) }
  const store = handOver.wrap({ roster, fences: {} } as unknown as Store)
  await clock.advance(afterMs)
  await store.roster.grant('m1', [{ resource: RESOURCE, ...HELD, next: 'm2', to: 'm2' }])
  return said.join()
}

test('[X47] a partition that is handed over while a mark of it was not answered is found', async () => {
  const early = await handedOver({ runs: [], marks: true, afterMs: 499 })
  assert.match(early, /^\[X47\] m1 marks turn 2 of k2: and its partition is handed over/)
  assert.equal(await handedOver({ runs: [], marks: true, afterMs: 500 }), '')
  assert.equal(await handedOver({ runs: [], marks: false, afterMs: 499 }), '')
})

test('[X16] a partition that is handed over while a run of it is under way is found', async () => {
  const early = await handedOver({ runs: [madeOf()], marks: false, afterMs: 499 })
  assert.match(early, /^\[X16\] m1 started turn 1 of k1: and its partition is handed over/)
  assert.equal(await handedOver({ runs: [madeOf()], marks: false, afterMs: 500 }), '')
  assert.equal(await handedOver({ runs: [madeOf({}, 'lost')], marks: false, afterMs: 499 }), '')
})

test('[X18] a stop need not wait for a run whose signal fired more than a second ago, and a hand-over does', async () => {
  const runs = [madeOf({ startedAt: 4000, abortedAt: 4100 }, 'timeout')]
  const stopped = (afterMs: number): Promise<string> =>
    handedOver({ runs, marks: false, afterMs, leavingAt: 5000, revokedAt: 5000 })
  assert.match(await stopped(5099), /^\[X16\]/)
  assert.equal(await stopped(5100), '')
  const revoked = { runs, marks: false, afterMs: 5499, revokedAt: 5000 }
  assert.match(await handedOver(revoked), /^\[X16\]/)
  assert.equal(await handedOver({ ...revoked, afterMs: 5500 }), '')
})
