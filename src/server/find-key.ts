// Which pools have a key, where nobody said which is meant.
import type { StoredPool } from '../pool/store.ts'
import { findEntry } from '../why.ts'
import { TICKS } from './known-pools.ts'
import type { ServerContext } from './route.ts'

/** The most pools that are looked through: each costs a read. */
export const MOST_POOLS = 100

export interface FoundKey {
  /** The pools that have it, that of ticks first, and those last in which it is dead. */
  pools: string[]
  /** Where it was looked for. */
  lookedIn: string[]
  /** How many pools there are. */
  of: number
  /** The clock of the store; null: there is no pool. */
  now: number | null
}

export async function findKey(
  { race, pools }: ServerContext,
  { key, at }: { key: string; at: number | null },
): Promise<FoundKey> {
  const all = await pools.list()
  const isTicks = ({ name }: StoredPool): boolean => name === TICKS
  const ordered = [...all.filter(isTicks), ...all.filter((pool) => !isTicks(pool))].slice(0, MOST_POOLS)
  const lookedIn = ordered.map(({ name }) => name)
  const found: FoundKey = { pools: [], lookedIn, of: all.length, now: null }
  const dead: string[] = []
  for (const stored of ordered) {
    const { name: pool } = stored
    await pools.makeReadable(stored)
    const { now, entry } = await findEntry(race.store, { pool, key, at })
    found.now = now
    if (entry !== null) (entry.state === 'dead' ? dead : found.pools).push(pool)
  }
  found.pools.push(...dead)
  return found
}
