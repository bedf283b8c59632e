// One run: faults and work by the seed; then all is healed, and within a bound everything must have come right.
import { type Fence, poolResource } from '../../fence.ts'
import { changeLimits } from '../../pool/control.ts'
import type { RosterView } from '../../roster/store.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import { JOBS, type JobOperation, type JobRules } from './jobs.ts'
import type { Life } from './life.ts'
import type { PointCounts } from './points.ts'
import type { RaceCounts } from './sometimes.ts'
import { isLimited } from './steers.ts'
import { type Operation, POOL, type Swarm, drawSwarm } from './swarm.ts'
import { World } from './world.ts'

export interface RunReport {
  seed: number
  /** Nothing: every promise held. */
  violations: string[]
  /** The most that ran at once. */
  members: number
  /** Those that were sent to a member. */
  operations: number
  answered: number
  faults: number
  races: RaceCounts
  points: PointCounts
  /** The numbers of the draws that were a fault of a call, a hint or at a point. */
  struck: readonly number[]
  hash: string
  trace: readonly string[]
}

const LOOK_EVERY_MS = 500
const HEAL_WITHIN_MS = 40_000
const MANY = 1_000_000
/** By then calls that were under way when all was healed have failed. */
const CALLS_FAIL_MS = 5000

/** What is put when all is healed is due when calls that were under way have failed. */
const CALM_PUT: Operation = {
  atMs: 0,
  kind: 'put',
  key: 'calm',
  dueInMs: CALLS_FAIL_MS + 1000,
  onConflict: 'earliest',
  tx: null,
}

/** The same of a job, when also handlers have ended that were slow. */
function calmJob({ habits }: JobRules): JobOperation {
  const dueInMs = Math.max(CALLS_FAIL_MS, habits.longestMs) + 1000
  const lane = 'bulk'
  return { atMs: 0, kind: 'job', key: 'calm-job', dueInMs, lane, group: null, onConflict: 'earliest' }
}

interface Happening {
  atMs: number
  run: () => void
}

export function simulate(seed: number): Promise<RunReport> {
  return runSwarm(drawSwarm(seed))
}

export async function runSwarm(swarm: Swarm, openStore = openMemoryStore): Promise<RunReport> {
  const world = new World(swarm, openStore)
  for (let nth = 0; nth < swarm.members; nth += 1) world.join()
  await play(world, happenings(world))
  world.heal()
  const { stuck, calmFrom } = await healed(world)
  for (const life of world.lives) stuck.push(...(await stopped(world, life)))
  const pools = poolsOf(world).map(({ name }) => name)
  const judged = await world.witness.judge(world.store, { pools, topic: POOL, calmFrom })
  return {
    seed: swarm.seed,
    violations: [
      ...stuck,
      ...judged,
      // What a limit holds back is late.
      ...(isLeftLimited(world) ? [] : world.jobs.judge(calmFrom)),
      ...world.answers.judge(),
      ...(await world.users.judge(world.store)),
    ],
    members: world.mostMembers,
    operations: world.users.sent,
    answered: world.users.answered,
    faults: world.plannedFaults + world.faults.count,
    races: world.races,
    points: world.points,
    struck: world.faults.struck,
    hash: world.trace.digest(),
    trace: world.trace.lines,
  }
}

function happenings(world: World): Happening[] {
  const { operations, jobOperations, planned, faultyMs } = world.swarm
  const all: Happening[] = [
    ...[...operations, ...jobOperations].map((each) => ({
      atMs: each.atMs,
      run: () => void world.users.operate(each),
    })),
    ...planned.map((each) => ({ atMs: each.atMs, run: () => world.strike(each) })),
  ]
  for (let atMs = LOOK_EVERY_MS; atMs <= faultyMs; atMs += LOOK_EVERY_MS) {
    all.push({ atMs, run: () => world.supervise() })
  }
  return all.toSorted((a, b) => a.atMs - b.atMs)
}

/**
 * Lets everything come right, within the time that it takes every lease to end, every call to fail, every transaction to
 * end, and every tick to fall due, if it is not one for much later. Answers what did not, and from when on, by the store's
 * clock, it was calm.
 */
async function healed(world: World): Promise<{ stuck: string[]; calmFrom: number }> {
  const { leaseMs, faultyMs, jobs } = world.swarm
  const first = faultyMs + 4 * leaseMs
  const calmFrom = world.storeClock.now() + 4 * leaseMs + CALLS_FAIL_MS
  for (let atMs = faultyMs; ; atMs += LOOK_EVERY_MS) {
    await play(world, [{ atMs, run: () => world.supervise() }])
    for (const each of unsteered(world)) void world.users.operate(each)
    if (atMs < first) continue
    if (atMs === first) {
      void world.users.operate(CALM_PUT)
      if (jobs !== null) void world.users.operate(calmJob(jobs))
    }
    const stuck = await unsettled(world)
    const isOver = stuck.length === 0 && (await awaited(world)) === 0
    if (isOver) return { stuck, calmFrom }
    if (atMs >= first + HEAL_WITHIN_MS) return { stuck: [...stuck, ...stillOpen(world)], calmFrom }
  }
}

/** Whether limits are left when all is healed. */
function isLeftLimited({ swarm: { jobs } }: World): boolean {
  return jobs?.steered !== undefined && isLimited(jobs.steered)
}

/** What users have to ask for until the pool of jobs is steered as it is to be left. */
function unsteered({ limits, swarm: { jobs } }: World): JobOperation[] {
  if (jobs?.steered === undefined) return []
  const { paused, limits: found } = limits.history.current
  const { left } = jobs.steered
  const at = { atMs: 0, key: 'healed' }
  const isLeft = JSON.stringify(changeLimits(found, left)) === JSON.stringify(found)
  return [
    ...(paused === null ? [] : [{ ...at, kind: 'job-resume' as const }]),
    ...(isLeft ? [] : [{ ...at, kind: 'job-limit' as const, limits: left }]),
  ]
}

/** How much is still to come soon. */
async function awaited(world: World): Promise<number> {
  const { store, storeClock, users } = world
  const dueBefore = storeClock.now() + HEAL_WITHIN_MS
  let count = users.open
  for (const { name } of poolsOf(world)) {
    const { entries } = await store.pool.browse.list(name, { dueBefore, limit: MANY })
    count += entries.filter(({ state }) => state === 'live').length
  }
  return count
}

/** The pools of a run, and how many partitions each has. */
function poolsOf({ swarm: { partitions, jobs } }: World): { name: string; partitions: number }[] {
  const ticks = { name: POOL, partitions }
  return jobs === null ? [ticks] : [ticks, { name: JOBS, partitions: jobs.partitions }]
}

/** By the end every transaction has ended. */
function stillOpen({ users: { open } }: World): string[] {
  return open > 0 ? [`${open} transactions are still open`] : []
}

async function play(world: World, happening: readonly Happening[]): Promise<void> {
  for (const { atMs, run } of happening) {
    await world.clock.advance(Math.max(0, atMs - world.clock.mono()))
    run()
  }
}

/** A stop needs time to pass. */
async function stopped(world: World, life: Life): Promise<string[]> {
  const over = new AbortController()
  void life.stop().then(() => over.abort())
  for (let tries = 0; tries < 100; tries += 1) {
    await world.clock.settle()
    if (over.signal.aborted) return []
    await world.clock.advance(LOOK_EVERY_MS)
  }
  return [`[H4] ${life.name} does not stop`]
}

/** What should have come right and did not. */
async function unsettled(world: World): Promise<string[]> {
  const { store, arrivals, users, lives } = world
  const view = await store.roster.view()
  const stuck: string[] = []
  for (const pool of poolsOf(world)) {
    stuck.push(...(await overdue(world, pool.name)), ...notShared(world, pool, view))
    stuck.push(...notRaised(pool, view, await store.fences.fences(poolResource(pool.name))))
  }
  return [
    ...stuck,
    ...ghosts(world, view),
    ...[...lives]
      .filter(({ stuck }) => stuck > 0)
      .map(({ name, stuck }) => `[X2] ${name} has ${stuck} runs in flight, and nothing to do`),
    ...(arrivals.waiting > 0
      ? [`[U2] ${arrivals.waiting} arrivals were committed, and nobody folds them`]
      : []),
    ...users.unanswered(),
    ...[...lives]
      .filter(({ isLeaving }) => isLeaving)
      .map(({ name }) => `[H4] ${name} was to leave, and does not`),
  ]
}

async function overdue({ store }: World, pool: string): Promise<string[]> {
  const { now, entries } = await store.pool.browse.list(pool, { limit: MANY })
  return entries
    .filter(({ state, next }) => state === 'live' && next.dueAt < now - 1000)
    .map(({ key, next }) => {
      const [rule, done] = pool === POOL ? ['T1', 'moves'] : ['P1', 'runs']
      return `[${rule}] ${key} is due since ${now - next.dueAt} ms, and nobody ${done} it`
    })
}

function ghosts({ lives }: World, { members, leader, now }: RosterView): string[] {
  const living = new Set([...lives].map(({ member }) => member))
  const found = members
    .filter(({ id }) => !living.has(id))
    .map(({ name }) => `[K3] ${name} is dead, and in the roster`)
  if (leader === null || leader.expiresAt < now || !living.has(leader.member)) found.push('[K1] nobody leads')
  return found
}

function notShared(
  world: World,
  { name, partitions }: { name: string; partitions: number },
  { allotments }: RosterView,
): string[] {
  const living = new Set([...world.lives].map(({ member }) => member))
  const ours = allotments.filter(({ resource }) => resource === poolResource(name))
  const found = ours.flatMap(({ partition, owner, next }) => {
    const what = `partition ${partition} of ${name} is ${owner}’s`
    if (!living.has(owner)) return [`[A5] ${what}, who is dead`]
    return next === null ? [] : [`[A3] ${what}, who does not hand it over`]
  })
  if (ours.length !== partitions) found.push(`[A1] ${ours.length} partitions of ${name} are allotted`)
  const shares = [...living].map((member) => ours.filter(({ owner }) => owner === member).length)
  if (Math.max(...shares) - Math.min(...shares) > 1)
    found.push(`[A1] shares of ${name} are uneven: ${shares.join(' ')}`)
  return found
}

/** Partitions whose owner works under another right than it was given. */
function notRaised(
  { name }: { name: string },
  { allotments }: RosterView,
  fences: readonly Fence[],
): string[] {
  const standing = new Map(fences.map((fence) => [fence.partition, fence]))
  return allotments.flatMap(({ resource, partition, owner, epoch }) => {
    const fence = standing.get(partition)
    if (resource !== poolResource(name) || (fence?.owner === owner && fence.epoch === epoch)) return []
    return [
      `[H1] partition ${partition} of ${name} is ${owner}’s under epoch ${epoch}, and its fence ${fence?.owner}’s under ${fence?.epoch}`,
    ]
  })
}
