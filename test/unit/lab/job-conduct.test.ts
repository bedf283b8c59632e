// The worker of one life: one that starts more runs than it may, others than it took, or what it took too soon is found; and
// who called a run off is known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poolResource } from '../../../src/fence.ts'
import { Conduct } from '../../../src/lab/simulation/conduct.ts'
import { JobConduct } from '../../../src/lab/simulation/job-conduct.ts'
import type { Standstill } from '../../../src/lab/simulation/job-suspects.ts'
import { JobLimits } from '../../../src/lab/simulation/job-limits.ts'
import { JobWitness } from '../../../src/lab/simulation/job-witness.ts'
import { NO_CONTROL } from '../../../src/pool/control.ts'
import { JOBS, type JobRules, drawJobs } from '../../../src/lab/simulation/jobs.ts'
import type { Made } from '../../../src/lab/simulation/made.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import type { TakenRun } from '../../../src/pool/entry.ts'
import { RunAborted } from '../../../src/pool/run.ts'
import type { Store } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { contextOf } from './context-of.ts'
import { takenOf } from './made-up.ts'

const HELD = { partition: 1, epoch: 1 }
const CLAIM = { owner: 'm1', held: [HELD], concurrency: 2 }
const RULES: JobRules = { ...drawJobs(1, { faultyMs: 30_000 }).jobs, concurrency: 2, timeoutMs: null }
const DUE = [1, 2, 3].map((turn) => takenOf(turn))
const BEAT = { member: 'm1', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] }

/** A store with three runs that are due, whose fences are raised and whose beats are known. */
function storeOf(clock: VirtualClock, runs: readonly TakenRun[], settle: () => Promise<void>): Store {
  const beaten = { known: true, leader: null }
  return {
    fences: { raise: () => Promise.resolve([{ ...HELD, raised: true, suspects: 0 }]) },
    roster: {},
    mover: {},
    arrivals: null,
    pool: {
      entries: {
        cancel: () => Promise.resolve({ cancelled: 0, due: 1 }),
        take: () => Promise.resolve({ now: clock.now(), runs }),
        settle: () => settle().then(() => [{ result: 'settled', nextDueAt: null }]),
      },
      progress: {},
      control: { read: () => Promise.resolve({ now: clock.now(), version: 0, control: NO_CONTROL }) },
      browse: {},
    },
    pulse: () => Promise.resolve({ now: clock.now(), beaten, controls: new Map([[JOBS, 0]]) }),
  } as unknown as Store
}

/** A worker of two handlers, which may have taken before it raised. `start` answers what is said of a start. */
async function worker({ raisesFirst = true, runs = DUE, settle = () => Promise.resolve() } = {}) {
  const clock = new VirtualClock()
  const said: string[] = []
  const say = (violation: string): void => void said.push(violation)
  const parts = { clock, races: noRaces(), rules: RULES, say }
  const conduct = new Conduct({ ...parts, leaseMs: 3000, drainWithinMs: 500, isLeaving: () => false })
  const witness = new JobWitness({ ...parts, storeClock: clock, slowestMs: 0, fenceOf: () => undefined })
  const life = { name: 'm1', isDead: false, leavingAt: Infinity }
  const limits = new JobLimits({ ...parts, storeClock: clock, epochOf: () => 1 })
  const steered = {
    member: {
      name: 'm1',
      awakeSince: () => -Infinity,
      isTrusted: () => true,
      hasLeft: () => false,
      isInGeneration: () => true,
    },
    aheadMs: () => 0,
    limits,
  }
  const stood = (): Standstill => ({ from: -Infinity, until: -Infinity })
  const works = new JobConduct({ ...parts, life, stood, conduct, witness, steered })
  const store = works.wrap(conduct.wrap(storeOf(clock, runs, settle)))
  await store.pulse({ beat: BEAT, pools: [] })
  if (raisesFirst) await store.fences.raise(poolResource(JOBS), CLAIM)
  const request = { partitions: [1], lane: 'normal', from: 0, limit: 3 } as const
  await store.pool.control.read(JOBS)
  const taken = await store.pool.entries.take(JOBS, request)
  if (!raisesFirst) await store.fences.raise(poolResource(JOBS), CLAIM)
  const begin = (
    nth: number,
    given: { tally?: number; attempt?: number; signal?: AbortSignal } = {},
  ): Made => {
    const { key, payload } = taken.runs[nth] as TakenRun
    const told = { key, at: null, dueAt: new Date(0), payload: Number(payload), payloads: [], tally: 1 }
    said.length = 0
    return works.started({ ...told, ...given }, { ...contextOf(HELD), ...given })
  }
  const start = (...given: Parameters<typeof begin>): string => {
    begin(...given)
    return said.join()
  }
  return { start, begin, works, entries: store.pool.entries, races: parts.races, clock, said }
}

test('[X1] a handler that is started though as many run as may is found', async () => {
  const { start } = await worker()
  assert.deepEqual([start(0), start(1)], ['', ''])
  assert.match(start(2), /^\[X1\] m1 started turn 3 of k3: and 3 handlers run, of 2/)
})

test('[X4] a handler that is told of another run than was taken is found', async () => {
  const { start } = await worker()
  assert.match(start(0, { tally: 2 }), /^\[X4\] m1 started turn 1 of k1: as another run than was taken/)
  assert.match(start(1, { attempt: 2 }), /^\[X4\]/)
})

test('[X4] a run that starts though its take was sent before its partition was raised is found', async () => {
  const { start } = await worker({ raisesFirst: false })
  assert.match(
    start(0),
    /\[X4\] m1 started turn 1 of k1: it was taken before pool\/jobs\/1 under epoch 1 was raised/,
  )
})

test('[X24] a cancel that its own member asked for does not count as one of another, also if it ran only meanwhile', async () => {
  const { begin, works, entries, races } = await worker()
  const called = { signal: AbortSignal.abort(new RunAborted('cancel')) }
  const cancelled = entries.cancel(JOBS, { key: 'k1' })
  const meanwhile = begin(0, called)
  await cancelled
  works.ended(meanwhile, 'throw')
  assert.equal(races['a run was called off that another member had cancelled'], 0)
  works.ended(begin(1, called), 'throw')
  assert.equal(races['a run was called off that another member had cancelled'], 1)
})

test('[X8] [X20] [X46] a run waits behind one of its key that is given up, until that is settled', async () => {
  const runs = [takenOf(1, { key: 'k' }), takenOf(2, { key: 'k', crashes: 3 }), takenOf(3, { key: 'k' })]
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const settle = async (): Promise<void> => gates.shift()?.promise
  const [first, second] = [...gates]
  const { begin, works, entries, clock, said } = await worker({ runs, settle })
  const take = async (from: number): Promise<string> => {
    await clock.advance(1)
    said.length = 0
    await entries.take(JOBS, { partitions: [1], lane: 'normal', from, limit: 3 })
    return said.join()
  }
  const made = begin(0)
  await take(0)
  runs.length = 0
  works.ended(made, 'done')
  const run = { key: 'k', slot: null, seen: 1 }
  const settled = entries.settle(JOBS, [{ ...run, turn: 1, outcome: { kind: 'done' } }], CLAIM)
  first?.resolve()
  await settled
  const crashed = { kind: 'dead', reason: 'crashed', error: null } as const
  const buried = entries.settle(JOBS, [{ ...run, turn: 2, outcome: crashed }], CLAIM)
  assert.equal(await take(1), '')
  second?.resolve()
  await buried
  assert.match(await take(1), /^\[X8\] a take of m1 looks from 1 on, and k is due at 0/)
})
