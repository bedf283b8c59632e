// The pulse: one statement, with the member's beat or without.
import { poolResource } from '../../fence.ts'
import type { Beat, Beaten, Leader } from '../../roster/store.ts'
import type { AskedPool, Hint, Pulse, PulseRequest, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { DueWatermarks, From } from './due-watermarks.ts'
import type { Life } from './life.ts'
import type { KnownPool, Pools } from './pools.ts'
import type { Sweeps } from './sweeps.ts'

export interface PulseParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  watermarks: DueWatermarks
  sweeps: Sweeps
  life: Life
  beats: Beats
  hint(hint: Hint): void
}

/** How often each member of this process has beaten, as it was last answered, and in which generation. */
export type Beats = Map<string, Counted>

interface Counted {
  count: number
  generation: string
  life: string
}

/** Of so many members the count is known at most: collectors come and go, and those that leave beat no more. */
export const MOST_COUNTED = 2000

/** How long a pulse waits until it is known from where it may read. */
const SWEEP_WITHIN_MS = 200
/** Without a beat: a third of the default lease of a member. */
const PULSE: Call = { operation: 'pulse', timeoutMs: 1000, again: 'undone' }

/**
 * A pulse that takes a quarter of a lease is followed by the next one. After a third its connection is given up, so that
 * the third pulse is sent on a new one: two that stand still, such as after a cut that reported no error, are survived.
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
  for (const { pool, partitions, from, isWhole, era } of asked) {
    const found = { now, nextDueAt: dues.get(pool.id) ?? null }
    // Sent in another life of the server: it did not read what is due again since.
    if (era !== parts.watermarks.era) parts.watermarks.lower(pool.id, found.nextDueAt)
    else if (isWhole) parts.watermarks.afterPulse(pool.id, from, partitions, found)
    else parts.watermarks.afterPart(pool.id, from, now)
    parts.sweeps.look(pool, partitions)
    nextDueAt.set(pool.name, found.nextDueAt)
  }
  const { generation } = parts.life
  return { now, nextDueAt, controls, beaten, generation, arrived: arrivedIn(parts, request, row) }
}

interface Asked {
  pool: KnownPool
  partitions: readonly number[]
  from: From
  /** All of it is looked at of which something may be due. */
  isWhole: boolean
  /** That of the watermarks, when this was asked of them. */
  era: number
}

/** What a pulse asks of a pool; where that is not known yet it waits, but not for long, since members live by it. */
async function askedOf(
  { watermarks, sweeps }: PulseParts,
  pool: KnownPool,
  { partitions, from: known }: Omit<AskedPool, 'pool'>,
): Promise<Asked> {
  let from = watermarks.beforePulse(pool.id, partitions)
  if (known !== undefined)
    return { pool, partitions, from: { ...from, from: known }, isWhole: false, era: watermarks.era }
  if (from.from === null) {
    await sweeps.within(SWEEP_WITHIN_MS, pool, partitions)
    from = watermarks.beforePulse(pool.id, partitions)
  }
  return { pool, partitions, from, isWhole: true, era: watermarks.era }
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

interface Pulsed {
  row: Row
  beaten: Beaten | null
}

async function withoutBeat({ connections }: PulseParts, columns: string[]): Promise<Pulsed> {
  const [row = {}] = await connections.query('next_dues', columns, PULSE)
  return { row, beaten: null }
}

async function withBeat(parts: PulseParts, beat: Beat, columns: string[]): Promise<Pulsed> {
  const texts = [beat.health, beat.holding, beat.refused].map((each) => JSON.stringify(each))
  const values = [...columns, beat.member, beat.leaseMs, beat.leaseMs, beat.leads, ...texts]
  parts.faults.at('beat.before-commit')
  const known = parts.beats.get(beat.member)
  const [row = {}] = await parts.connections.query('beat', values, callOf(beat))
  parts.faults.at('beat.after-commit')
  await doubt(parts, beat.member, known, row)
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

/**
 * A member that has beaten less often than it was answered, or is no member though the server has only been restarted, was
 * answered what the store does not hold: it went back. A later generation than that of the answer has members of its own.
 */
async function doubt(
  { life, beats }: PulseParts,
  member: string,
  known: Counted | undefined,
  row: Row,
): Promise<void> {
  const previous = row['previous_beats'] as number | null
  const isSameGeneration = known !== undefined && known.generation === life.generation
  const isMissed = previous === null ? known?.life !== life.name : previous < (known?.count ?? 0)
  if (isSameGeneration && isMissed) await life.doubt(known.generation)
  if (previous === null) beats.delete(member)
  else if (previous >= (beats.get(member)?.count ?? 0))
    noteBeat(beats, member, { count: previous + 1, generation: life.generation, life: life.name })
}

/** Those that beat are behind those that do not, which are forgotten first. */
export function noteBeat(beats: Beats, member: string, counted: Counted): void {
  beats.delete(member)
  beats.set(member, counted)
  const [oldest] = beats.keys()
  if (beats.size > MOST_COUNTED && oldest !== undefined) beats.delete(oldest)
}

function toLeader(row: Row): Leader | null {
  if (row['term'] === 0) return null
  return {
    member: row['member'] as string,
    term: row['term'] as number,
    expiresAt: row['expires_at'] as number,
  }
}
