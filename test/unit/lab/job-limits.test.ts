// Pauses, limits and takes, as they are judged from outside: what is wrong is said, and what a member need not know is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobLimits, type Limited } from '../../../src/lab/simulation/job-limits.ts'
import { JobTakes } from '../../../src/lab/simulation/job-takes.ts'
import { JOBS } from '../../../src/lab/simulation/jobs.ts'
import { type Made, UNDER_WAY } from '../../../src/lab/simulation/made.ts'
import { noRaces } from '../../../src/lab/simulation/sometimes.ts'
import { type Limits, type LimitsOptions, NO_CONTROL, changeLimits } from '../../../src/pool/control.ts'
import { RunAborted } from '../../../src/pool/run.ts'
import type { Store } from '../../../src/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { contextOf } from './context-of.ts'

interface Judged {
  clock: VirtualClock
  said: string[]
  write(control: { limits?: LimitsOptions; isPaused?: boolean }): Promise<number>
  start(group: string, member: Limited, known: number): Made
  limits: JobLimits
}

const [ONE, OTHER] = ['m1', 'm2'].map((name): Limited => ({
  name,
  awakeSince: () => -Infinity,
  isTrusted: () => true,
  hasLeft: () => false,
  isInGeneration: () => true,
})) as [Limited, Limited]

function judged(): Judged {
  const clock = new VirtualClock()
  const said: string[] = []
  const limits = new JobLimits({
    clock,
    storeClock: clock,
    races: noRaces(),
    epochOf: () => 1,
    say: (violation) => said.push(violation.split(' ')[0] as string),
  })
  let version = 0
  let kept: Limits = NO_CONTROL.limits
  const control = { write: async () => ++version }
  const { pool } = limits.history.wrap({ pool: { control } } as unknown as Store)
  let turns = 0
  return {
    clock,
    said,
    limits,
    write: async ({ limits: changed = {}, isPaused = false }) => {
      kept = changeLimits(kept, changed)
      const paused = isPaused ? { by: null, reason: null, since: 0, until: null } : null
      await pool.control.write(JOBS, version, { ...NO_CONTROL, paused, limits: kept })
      return version
    },
    start: (group, member, known) => {
      turns += 1
      const taken = { key: `k${turns}`, group, partition: 0, turn: turns } as Made['taken']
      const life = { name: member.name, isDead: false }
      const made: Made = {
        taken,
        epoch: 1,
        context: contextOf({ partition: 0, epoch: 1 }),
        life,
        startedAt: 0,
        ...UNDER_WAY,
      }
      limits.started(made, member, { known, slackMs: 0 })
      return made
    },
  }
}

test('[L12] who knows of a pause starts nothing, and who need not know of it may', async () => {
  const { said, write, start } = judged()
  const paused = await write({ isPaused: true })
  start('g', ONE, paused - 1)
  assert.deepEqual(said, [])
  start('g', ONE, paused)
  assert.deepEqual(said, ['[L12]'])
})

test('[L13] [L17] runs at once are counted for each group, and for the pool over all members', async () => {
  const { said, write, start, limits } = judged()
  await write({ limits: { group: { concurrency: 1 }, pool: { concurrency: 2 } } })
  const first = start('g', ONE, 1)
  start('h', OTHER, 1)
  assert.deepEqual(said, [])
  start('g', ONE, 1)
  assert.deepEqual(said, ['[L13]', '[L17]'])
  limits.ended(first)
  start('i', OTHER, 1)
  assert.deepEqual(said, ['[L13]', '[L17]', '[L17]'])
})

test('[L17] a run that ignored its timeout counts until its member has left the roster', async () => {
  const { said, write, start, limits } = judged()
  await write({ limits: { pool: { concurrency: 1 } } })
  let hasLeft = false
  const { context } = start('g', { ...ONE, hasLeft: () => hasLeft }, 1)
  Object.assign(context, { signal: AbortSignal.abort(new RunAborted('timeout')) })
  limits.ended(start('h', OTHER, 1))
  assert.deepEqual(said, ['[L17]'])
  hasLeft = true
  start('h', OTHER, 1)
  assert.deepEqual(said, ['[L17]'])
})

test('[L14] [L17] starts are counted in every span, and not those under another', async () => {
  const { clock, said, write, start } = judged()
  const rate = { count: 1, per: 1000 }
  start('g', ONE, 0)
  await write({ limits: { group: { rate }, pool: { rate: { ...rate, count: 2 } } } })
  start('g', ONE, 1)
  start('h', OTHER, 1)
  assert.deepEqual(said, [])
  await clock.advance(999)
  start('g', OTHER, 1)
  assert.deepEqual(said, ['[L14]', '[L17]'])
  await clock.advance(1000)
  start('g', OTHER, 1)
  assert.deepEqual(said, ['[L14]', '[L17]'])
})

test('[L22] starts of a group, or of a member in the pool, that follow too soon under a spread rate are found', async () => {
  const { clock, said, write, start } = judged()
  const rate = { count: 4, per: 1000 }
  await write({ limits: { group: { rate }, pool: { rate } } })
  start('g', ONE, 1)
  start('g', ONE, 1)
  assert.deepEqual(said, [])
  await write({
    limits: { group: { rate: { ...rate, spread: true } }, pool: { rate: { ...rate, spread: true } } },
  })
  start('g', ONE, 2)
  assert.deepEqual(said, [])
  await clock.advance(1000)
  start('g', OTHER, 2)
  await clock.advance(249)
  start('h', ONE, 2)
  assert.deepEqual(said, [])
  start('g', OTHER, 2)
  assert.deepEqual(said, ['[L22]', '[L22]'])
  await clock.advance(250)
  start('g', OTHER, 2)
  assert.deepEqual(said, ['[L22]', '[L22]'])
})

test('[X44] [X47] a mark whose call failed is made again, also under a limit that was lowered since', async () => {
  const { said, write, limits } = judged()
  const [a, b] = [1, 2].map((turn) => ({ key: `k${turn}`, group: 'g', partition: 0, turn }) as Made['taken'])
  if (a === undefined || b === undefined) return
  for (const taken of [a, b]) limits.marks(taken, ONE, 0)
  for (const taken of [a, b]) limits.markFailed(taken, ONE)
  const lowered = await write({ limits: { pool: { concurrency: 1 } } })
  for (const taken of [a, b]) limits.marks(taken, ONE, lowered)
  assert.deepEqual(said, [])
  for (const taken of [a, b]) limits.marked(taken, ONE)
  for (const taken of [a, b]) limits.marks(taken, ONE, lowered)
  assert.deepEqual(said, ['[X44]'])
})

test('[X1] a take is for what can start now, twice what has ended, and a few more that cannot be seen', () => {
  const takes = new JobTakes()
  const room = { free: 3, most: Infinity, inFlight: 0 }
  const sent = (limit: number, now: number): boolean =>
    takes.sent({ partitions: [0], lane: 'bulk', from: 0, limit }, room, now) === null
  assert.deepEqual([sent(5, 1), sent(6, 1)], [true, false])
  takes.ended()
  assert.deepEqual([sent(9, 2), sent(10, 2)], [true, false])
  assert.deepEqual([sent(9, 3), sent(7, 4), sent(7, 5)], [true, true, false])
})
