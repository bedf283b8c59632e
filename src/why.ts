// What one process can say of why a key does not run yet: gathers the evidence from its store, the roster and its own
// worker, leaves the judgement to pool/why.ts, and writes the answer that the library and the HTTP API give.
import { toIso } from './clock.ts'
import { poolResource } from './fence.ts'
import type { Meter } from './meter/meter.ts'
import type { Options } from './options.ts'
import { type Control, pauseAt } from './pool/control.ts'
import { type Entry, type EntryState, stateOf } from './pool/entry.ts'
import type {
  EntryEvidence,
  Evidence,
  LimitEvidence,
  OwnerEvidence,
  PartitionEvidence,
  PauseEvidence,
  StoreEvidence,
  WorkerEvidence,
} from './pool/evidence.ts'
import type { Pool } from './pool/pool.ts'
import type { Browse } from './pool/store.ts'
import { type Why, why } from './pool/why.ts'
import type { WorkerSight } from './pool/work-meter.ts'
import type { Roster } from './roster/roster.ts'
import type { Member, RosterView } from './roster/store.ts'
import type { ServiceState } from './service.ts'
import type { Store } from './store.ts'

/** Why a key does not run yet, as `race.why` and `/v1/why` answer it. Times are RFC 3339. */
export interface WhyAnswer extends Why {
  /** Null: none was named, and none has the key. */
  pool: string | null
  key: string
  /** The clock of the store. */
  now: string
  dueAt: string | null
  partition: number | null
  /** Who owns its partition, and where that one is asked. */
  owner: { name: string; address: string | null } | null
  /** Where no pool was named: the others that have the key. */
  alsoIn: string[]
}

/** A running Headrace. */
export interface WhyParts {
  store: Store
  meter: Meter
  roster: Roster
  options: Options
  state: ServiceState
  pulseAgeMs: number
}

/** An entry that is asked about, of a pool that is open. */
export interface WhyAsked {
  pool: string
  key: string
  /** In a pool of mode `each`: the moment that was asked for; null: the one due first. */
  at: number | null
}

export async function gatherEvidence(
  parts: WhyParts,
  asked: WhyAsked,
  { isTicks }: Pick<Pool, 'isTicks'>,
): Promise<Evidence> {
  const { pool, key } = asked
  const { store, meter } = parts
  const view = await store.roster.view()
  const worker = meter.pools().find((each) => each.pool === pool)?.worker ?? null
  const { now, entry } = await findEntry(store, asked)
  const { control } = await store.pool.control.read(pool)
  return {
    pool,
    key,
    now,
    entry: entry === null ? null : entryOf(entry, now),
    isTicks: isTicks || control.isTicks === true,
    paused: pausedAt(control, now),
    limit: entry === null ? null : limitOf(worker, entry, control, now),
    partition: entry === null ? null : partitionOf(parts, view, pool, entry.partition),
    worker: worker === null || entry === null ? null : workerOf(parts, worker, asked, entry),
    store: await storeOf(parts, worker),
  }
}

/** The answer to who asked for a key of one pool. */
export function answerWhy(evidence: Evidence, alsoIn: string[] = []): WhyAnswer {
  const { entry, partition } = evidence
  const owner = partition?.owner ?? null
  const found = why(evidence)
  return {
    pool: evidence.pool,
    key: evidence.key,
    now: toIso(evidence.now),
    ...found,
    evidence: withTimes(found.evidence),
    dueAt: entry === null ? null : toIso(entry.dueAt),
    partition: entry?.partition ?? null,
    owner: owner === null ? null : { name: owner.name, address: owner.address },
    alsoIn,
  }
}

/** The entry that is meant; where no moment was named the one due first, of those that are not dead if there are any. */
export async function findEntry(
  { pool: { browse } }: Store,
  { pool, key, at }: WhyAsked,
): Promise<{ now: number; entry: Entry | null }> {
  const { now, entries } = await browse.list(pool, { key, limit: 1 })
  const [first = null] = entries
  // In mode `one` a key has one entry, whatever the moment.
  if (first === null || first.slot === null || first.slot === at) return { now, entry: first }
  if (at !== null) return { now, entry: await browse.get(pool, { key, slot: at }) }
  return { now, entry: first.state === 'dead' ? ((await firstAlive(browse, pool, key)) ?? first) : first }
}

const ALIVE: readonly EntryState[] = ['due', 'waiting', 'backing-off']

async function firstAlive(browse: Browse, pool: string, key: string): Promise<Entry | null> {
  const pages = await Promise.all(ALIVE.map((state) => browse.list(pool, { key, state, limit: 1 })))
  const found = pages.flatMap(({ entries }) => entries)
  return found.toSorted((one, other) => one.next.dueAt - other.next.dueAt)[0] ?? null
}

function entryOf(entry: Entry, now: number): EntryEvidence {
  const { slot, attempt, lastError, lane, partition, next } = entry
  const { dueAt, tally } = next
  return { state: stateOf(entry, now), slot, dueAt, attempt, lastError, lane, partition, tally }
}

function pausedAt(control: Control, at: number): PauseEvidence | null {
  const paused = pauseAt(control, at)
  return paused === null ? null : { by: paused.by, reason: paused.reason, until: paused.until }
}

/** Which limits are reached only the worker knows that holds the partition. */
function limitOf(
  worker: WorkerSight | null,
  { group, partition }: Entry,
  { limits }: Control,
  now: number,
): LimitEvidence | null {
  const held = worker?.holds(partition) === true ? worker.heldBack({ group, partition }) : null
  if (held === null) return null
  const { kind, scope, inMs, share } = held
  const { concurrency, rate } = limits[scope]
  const limit = kind === 'rate' ? rate?.count : concurrency
  // It was changed a moment ago, and the worker goes by the earlier one.
  if (limit === undefined || limit === null) return null
  const perMs = kind === 'rate' ? (rate?.perMs ?? null) : null
  return { kind, scope, limit, perMs, share, until: inMs === null ? null : Math.ceil(now + inMs) }
}

function partitionOf(
  { roster, options }: WhyParts,
  { members, allotments, now }: RosterView,
  pool: string,
  partition: number,
): PartitionEvidence {
  const resource = poolResource(pool)
  const allotted = allotments.find((each) => each.resource === resource && each.partition === partition)
  const owner = members.find(({ id }) => id === allotted?.owner)
  const next = members.find(({ id }) => id === allotted?.next)?.name ?? allotted?.next ?? null
  return {
    owner:
      owner === undefined ? null : ownerOf(owner, { pool, silent: now - owner.heartbeatAt > options.lease }),
    next,
    servers: members.filter(({ serves }) => serves.includes(resource)).length,
    isHere: allotted !== undefined && allotted.owner === roster.id,
  }
}

function ownerOf(
  { id, name, address, draining, health }: Member,
  { pool, silent }: { pool: string; silent: boolean },
): OwnerEvidence {
  const states = [health[`work ${pool}`], health[`ticks ${pool}`]]
  // One that has stopped before others of its process keeps its partitions until these have.
  const stopping = states.some((state) => state === 'stopping' || state === 'stopped')
  return { id, name, address, draining, stopping, silent }
}

function workerOf(
  { state }: WhyParts,
  worker: WorkerSight,
  { key }: WhyAsked,
  { partition }: Entry,
): WorkerEvidence {
  const { running, concurrency } = worker
  return {
    running,
    concurrency,
    waiting: worker.backlog().reduce((sum, { waiting }) => sum + waiting, 0),
    holds: worker.holds(partition),
    alone: worker.alone,
    isStopping: state === 'stopping',
    sight: worker.sight(key),
  }
}

async function storeOf(
  { store, meter, options, roster, pulseAgeMs }: WhyParts,
  worker: WorkerSight | null,
): Promise<StoreEvidence> {
  return {
    behind: worker?.isBehind === true ? await holderIn(store) : null,
    p99Ms: meter.lately.store.all().quantile(0.99),
    pulseAgeMs,
    leaseMs: options.lease,
    isFailing: worker?.isFailing ?? false,
    isTrusted: options.join === 'no' || roster.isTrusted,
  }
}

/** Who keeps removed rows in the way of reads, if the store knows of one. */
async function holderIn(store: Store): Promise<StoreEvidence['behind']> {
  const found = (await store.inspect()).find(({ check, ok }) => check === 'horizon' && !ok)
  return { holder: found?.detail ?? null, remedy: found?.remedy ?? null }
}

const TIMES: readonly string[] = ['until', 'dueAt', 'slot']

function withTimes(evidence: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(evidence).map(([name, value]) => {
    return [name, TIMES.includes(name) && typeof value === 'number' ? toIso(value) : value]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}
