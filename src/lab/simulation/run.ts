// One run: faults and work by the seed; then all is healed, and within a bound everything must have come right.
import { type Fence, poolResource } from '../../fence.ts'
import type { RosterView } from '../../roster/store.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import { START } from '../../testing/virtual-clock.ts'
import type { RaceCounts } from './sometimes.ts'
import { POOL, type Swarm, drawSwarm } from './swarm.ts'
import { World } from './world.ts'

export interface RunReport {
  seed: number
  /** Nothing: every promise held. */
  violations: string[]
  members: number
  operations: number
  answered: number
  faults: number
  races: RaceCounts
  hash: string
  trace: readonly string[]
}

const LOOK_EVERY_MS = 500
const RESOURCE = poolResource(POOL)

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
  await play(world, healing(world))
  const stuck = await unsettled(world)
  for (const life of world.lives) {
    if (!(await stopped(world, life.stop()))) stuck.push(`${life.name} does not stop`)
  }
  const judged = await world.witness.judge(world.store, {
    pool: POOL,
    topic: POOL,
    calmFromMs: calmFrom(swarm),
  })
  return {
    seed: swarm.seed,
    violations: [...stuck, ...judged],
    members: swarm.members,
    operations: swarm.operations.length,
    answered: world.answered,
    faults: world.plannedFaults + world.faults.count,
    races: world.races,
    hash: world.trace.digest(),
    trace: world.trace.lines,
  }
}

function happenings(world: World): Happening[] {
  const { operations, planned, faultyMs } = world.swarm
  const all: Happening[] = [
    ...operations.map((each) => ({ atMs: each.atMs, run: () => void world.operate(each) })),
    ...planned.map((each) => ({ atMs: each.atMs, run: () => world.strike(each) })),
  ]
  for (let atMs = LOOK_EVERY_MS; atMs <= faultyMs; atMs += LOOK_EVERY_MS) {
    all.push({ atMs, run: () => world.supervise() })
  }
  return all.toSorted((a, b) => a.atMs - b.atMs)
}

/** Long enough for every lease to end, every call to fail, and every tick to fall due. */
function healing(world: World): Happening[] {
  const { leaseMs, faultyMs } = world.swarm
  const lastMs = faultyMs + 4 * leaseMs + 40_000
  const looks: Happening[] = []
  for (let atMs = faultyMs; atMs <= lastMs; atMs += LOOK_EVERY_MS)
    looks.push({ atMs, run: () => world.supervise() })
  return looks
}

async function play(world: World, happening: readonly Happening[]): Promise<void> {
  for (const { atMs, run } of happening) {
    await world.clock.advance(Math.max(0, atMs - world.clock.mono()))
    run()
  }
}

/** A stop needs time to pass; false: it did not end. */
async function stopped(world: World, stopping: Promise<void>): Promise<boolean> {
  const over = new AbortController()
  void stopping.then(() => over.abort())
  for (let tries = 0; !over.signal.aborted && tries < 100; tries += 1)
    await world.clock.advance(LOOK_EVERY_MS)
  return over.signal.aborted
}

/** From here on everything has come right: leases are over, and calls that were under way have failed. */
function calmFrom({ faultyMs, leaseMs }: Swarm): number {
  return START + faultyMs + 4 * leaseMs + 5000
}

/** What should have come right and did not. */
async function unsettled(world: World): Promise<string[]> {
  const { store, clock } = world
  const { entries } = await store.pool.browse.list(POOL, { limit: 1_000_000 })
  const late = entries.filter(({ state, next }) => state === 'live' && next.dueAt < clock.now() - 1000)
  const view = await store.roster.view()
  return [
    ...late.map(({ key, next }) => `${key} is due since ${clock.now() - next.dueAt} ms, and nobody moves it`),
    ...notShared(world, view),
    ...notRaised(view, await store.fences.fences(RESOURCE)),
    ...unanswered(world),
  ]
}

function notShared(world: World, { allotments, leader, now }: RosterView): string[] {
  const living = new Set([...world.lives].map(({ member }) => member))
  const ours = allotments.filter(({ resource }) => resource === RESOURCE)
  const lost = ours.filter(({ owner, next }) => !living.has(owner) || next !== null)
  const found = lost.map(
    ({ partition, owner }) => `partition ${partition} is ${owner}’s, who is dead or leaves`,
  )
  if (ours.length !== world.swarm.partitions) found.push(`${ours.length} partitions are allotted`)
  if (leader === null || leader.expiresAt < now || !living.has(leader.member)) found.push('nobody leads')
  const shares = [...living].map((member) => ours.filter(({ owner }) => owner === member).length)
  if (Math.max(...shares) - Math.min(...shares) > 1) found.push(`shares are uneven: ${shares.join(' ')}`)
  return found
}

/** Partitions whose owner works under another right than it was given. */
function notRaised({ allotments }: RosterView, fences: readonly Fence[]): string[] {
  const standing = new Map(fences.map((fence) => [fence.partition, fence]))
  return allotments.flatMap(({ resource, partition, owner, epoch }) => {
    const fence = standing.get(partition)
    if (resource !== RESOURCE || (fence?.owner === owner && fence.epoch === epoch)) return []
    return [
      `partition ${partition} is ${owner}’s under epoch ${epoch}, and its fence ${fence?.owner}’s under ${fence?.epoch}`,
    ]
  })
}

function unanswered({ lives }: World): string[] {
  return [...lives].flatMap(({ name, asked }) =>
    asked > 0 ? [`${asked} operations were never answered by ${name}`] : [],
  )
}
