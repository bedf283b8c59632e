// The pulse: one statement, with the member's beat or without.
import { poolResource } from '../../fence.ts'
import type { Beat, Beaten, Leader } from '../../roster/store.ts'
import type { AskedPool, Hint, Pulse, PulseRequest, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Floors, From } from './floors.ts'
import type { KnownPool, Pools } from './pools.ts'
import type { Sweeps } from './sweeps.ts'

export interface PulseParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  floors: Floors
  sweeps: Sweeps
  hint(hint: Hint): void
}

/** How long a pulse waits until it is known from where it may read. */
const SWEEP_WITHIN_MS = 200
/** Without a beat: a third of the lease that a member has unless it is set. */
const PULSE: Call = { operation: 'pulse', timeoutMs: 1000, again: 'undone' }

/**
 * A pulse that takes a quarter of a lease is followed by the next one. After a third its connection is given up, so that
 * the third pulse is sent on a new one: two that stand still, such as after a cut that nobody was told of, are survived.
 */
function callOf({ leaseMs }: Beat): Call {
  return { ...PULSE, timeoutMs: leaseMs / 3 }
}

export async function pulse(parts: PulseParts, request: PulseRequest): Promise<Omit<Pulse, 'refusal'>> {
  const asked = await Promise.all(
    request.pools.map(({ pool, ...asked }) => askedOf(parts, parts.pools.of(pool), asked)),
  )
  const columns = columnsOf(asked)
  const { row, beaten } = await (request.beat === null
    ? withoutBeat(parts, columns)
    : withBeat(parts, request.beat, columns))
  const ids = row['due_pools'] as number[]
  const times = row['due_times'] as (number | null)[]
  const dues = new Map(ids.map((id, index) => [id, times[index] ?? null]))
  const versions = row['control_versions'] as number[]
  const known = new Map((row['control_pools'] as number[]).map((id, index) => [id, versions[index] ?? 0]))
  const controls = new Map(asked.map(({ pool }) => [pool.name, known.get(pool.id) ?? 0]))
  const now = row['now'] as number
  const nextDueAt = new Map<string, number | null>()
  for (const { pool, partitions, from, isWhole } of asked) {
    const found = { now, nextDueAt: dues.get(pool.id) ?? null }
    if (isWhole) parts.floors.afterPulse(pool.id, from, partitions, found)
    else parts.floors.afterPart(pool.id, from, now)
    parts.sweeps.look(pool, partitions)
    nextDueAt.set(pool.name, found.nextDueAt)
  }
  return { now, nextDueAt, controls, beaten, arrived: arrivedIn(parts, request, row) }
}

interface Asked {
  pool: KnownPool
  partitions: readonly number[]
  from: From
  /** All of it is looked at of which something may be due. */
  isWhole: boolean
}

/** What a pulse asks of a pool; where that is not known yet it waits, but not for long, since members live by it. */
async function askedOf(
  { floors, sweeps }: PulseParts,
  pool: KnownPool,
  { partitions, from: known }: Omit<AskedPool, 'pool'>,
): Promise<Asked> {
  let from = floors.beforePulse(pool.id, partitions)
  if (known !== undefined) return { pool, partitions, from: { ...from, from: known }, isWhole: false }
  if (from.from === null) {
    await sweeps.within(SWEEP_WITHIN_MS, pool, partitions)
    from = floors.beforePulse(pool.id, partitions)
  }
  return { pool, partitions, from, isWhole: true }
}

/** Pools, partitions and from where they are read. */
function columnsOf(asked: readonly Asked[]): string[] {
  const rows = asked.flatMap(({ pool, partitions, from }) =>
    partitions.map((partition) => [pool.id, partition, from.from]),
  )
  return [0, 1, 2].map((column) => numberArray(rows.map((row) => row[column] ?? null)))
}

function arrivedIn({ pools }: PulseParts, request: PulseRequest, row: Row): string[] {
  const ids = new Set(row['arrived_pools'] as number[])
  const names = request.pools.map(({ pool }) => pool).filter((name) => ids.has(pools.of(name).id))
  const topics = row['arrived_topics'] as string[]
  return [...names.map(poolResource), ...topics.map((name) => `topic/${name}`)]
}

interface Told {
  row: Row
  beaten: Beaten | null
}

async function withoutBeat({ connections }: PulseParts, columns: string[]): Promise<Told> {
  const [row = {}] = await connections.query('next_dues', columns, PULSE)
  return { row, beaten: null }
}

async function withBeat(parts: PulseParts, beat: Beat, columns: string[]): Promise<Told> {
  const said = [beat.health, beat.holding, beat.refused].map((each) => JSON.stringify(each))
  const values = [beat.member, beat.leaseMs, beat.leaseMs, beat.leads, ...said, ...columns]
  parts.faults.at('beat.before-commit')
  const [row = {}] = await parts.connections.query('beat', values, callOf(beat))
  parts.faults.at('beat.after-commit')
  if (row['previous_at'] === null) return { row, beaten: { known: false } }
  if (row['is_news'] === true) parts.hint({ kind: 'roster' })
  const beaten: Beaten = {
    known: true,
    previousAt: row['previous_at'] as number,
    leader: toLeader(row),
    version: row['version'] as number,
    silent: row['silent'] as string[],
  }
  return { row, beaten }
}

function toLeader(row: Row): Leader | null {
  if (row['term'] === 0) return null
  return {
    member: row['member'] as string,
    term: row['term'] as number,
    expiresAt: row['expires_at'] as number,
  }
}
