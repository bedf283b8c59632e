// The pulse: one statement, with the member's beat or without.
import { poolResource } from '../../fence.ts'
import type { Beat, Beaten, Leader } from '../../roster/store.ts'
import type { Hint, Pulse, PulseRequest, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Floors } from './floors.ts'
import type { Pools } from './pools.ts'

export interface PulseParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  floors: Floors
  hint(hint: Hint): void
}

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
  const { pools, floors } = parts
  const askedPools = request.pools.map(({ pool, partitions }) => {
    const { id } = pools.of(pool)
    return { name: pool, id, partitions, from: floors.beforePulse(id, partitions) }
  })
  const asked = askedPools.flatMap(({ id, partitions, from }) =>
    partitions.map((partition) => [id, partition, from]),
  )
  const columns = [0, 1, 2].map((column) => numberArray(asked.map((row) => row[column] as number)))
  const { row, beaten } = await (request.beat === null
    ? withoutBeat(parts, columns)
    : withBeat(parts, request.beat, columns))
  const ids = row['due_pools'] as number[]
  const times = row['due_times'] as (number | null)[]
  const dues = new Map(ids.map((id, index) => [id, times[index] ?? null]))
  const now = row['now'] as number
  const nextDueAt = new Map<string, number | null>()
  for (const { name, id, partitions, from } of askedPools) {
    const found = { now, nextDueAt: dues.get(id) ?? null }
    floors.afterPulse(id, from, partitions, found)
    nextDueAt.set(name, found.nextDueAt)
  }
  return { now, nextDueAt, beaten, arrived: arrivedIn(parts, request, row) }
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
