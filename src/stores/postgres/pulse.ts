// The pulse: one statement, with the member's beat or without.
import type { Beat, Beaten, Leader } from '../../roster/store.ts'
import type { Hint, Pulse, PulseRequest, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Pools } from './pools.ts'

export interface PulseParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  hint(hint: Hint): void
}

/** A pulse that takes longer is sent again by the one who sent it, which counts its trust from the first. */
const PULSE: Call = { operation: 'pulse', timeoutMs: 5000, again: 'undone' }

export async function pulse(parts: PulseParts, request: PulseRequest): Promise<Omit<Pulse, 'refusal'>> {
  const asked = request.pools.flatMap(({ pool, partitions }) =>
    partitions.map((partition) => ({ pool: parts.pools.of(pool).id, partition })),
  )
  const columns = [
    numberArray(asked.map(({ pool }) => pool)),
    numberArray(asked.map(({ partition }) => partition)),
  ]
  const { now, dues, beaten } = await (request.beat === null
    ? withoutBeat(parts, columns)
    : withBeat(parts, request.beat, columns))
  const nextDueAt = new Map(
    request.pools.map(({ pool }) => [pool, dues.get(parts.pools.of(pool).id) ?? null] as const),
  )
  return { now, nextDueAt, beaten }
}

interface Told {
  now: number
  /** By the pool's number. */
  dues: Map<number, number | null>
  beaten: Beaten | null
}

async function withoutBeat({ connections }: PulseParts, columns: string[]): Promise<Told> {
  const rows = await connections.query('next_dues', columns, PULSE)
  const dues = new Map(rows.map((row) => [row['pool'] as number, row['next_due_at'] as number | null]))
  return { now: rows[0]?.['now'] as number, dues, beaten: null }
}

async function withBeat(parts: PulseParts, beat: Beat, columns: string[]): Promise<Told> {
  const said = [beat.health, beat.holding, beat.refused].map((each) => JSON.stringify(each))
  const values = [beat.member, beat.leaseMs, beat.leaseMs, beat.leads, ...said, ...columns]
  parts.faults.at('beat.before-commit')
  const [row = {}] = await parts.connections.query('beat', values, PULSE)
  parts.faults.at('beat.after-commit')
  const [pools, times] = [row['due_pools'] as number[], row['due_times'] as (number | null)[]]
  const dues = new Map(pools.map((pool, index) => [pool, times[index] ?? null]))
  if (row['previous_at'] === null) return { now: row['now'] as number, dues, beaten: { known: false } }
  if (row['is_news'] === true) parts.hint({ kind: 'roster' })
  const beaten: Beaten = {
    known: true,
    previousAt: row['previous_at'] as number,
    leader: toLeader(row),
    version: row['version'] as number,
    silent: row['silent'] as string[],
  }
  return { now: row['now'] as number, dues, beaten }
}

function toLeader(row: Row): Leader | null {
  if (row['term'] === 0) return null
  return {
    member: row['member'] as string,
    term: row['term'] as number,
    expiresAt: row['expires_at'] as number,
  }
}
