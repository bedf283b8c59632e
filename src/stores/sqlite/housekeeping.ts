// What the pulse lets the store do beside its answer: fold entries that wait long from the journal into the
// table, and forget fired slots and kept answers whose time is over. Bounded, so that a pulse stays short.
import type { Entry } from '../../pool/entry.ts'
import type { Telemetry } from '../../telemetry.ts'
import type { Database } from './database.ts'
import { type Pools, type SqlitePool, replaceEntry } from './pools.ts'
import type { Session } from './session.ts'

/** Younger entries stay in the journal: most ticks are due soon, and then never touch the table's indexes. */
const FOLD_AFTER_MS = 10_000
/** Entries that are due sooner stay, too: by the time they were folded they would be gone. */
const FOLD_DUE_BEYOND_MS = 60_000
/**
 * In a segment of which an eighth or less is left. Due times spread evenly over 80 s or less never come to
 * this: their last eighth is due sooner.
 */
const FOLD_SPARSE_DUE_BEYOND_MS = 10_000
/** About 20 ms of work. */
const FOLD_LIMIT = 1000
/** A journal with more entries than this is folded four times as fast. */
const LARGE_JOURNAL = 100_000
const FORGET_LIMIT = 1000

export interface HousekeepingParts {
  database: Database
  session: Session
  pools: Pools
  telemetry: Telemetry
}

export interface Chores {
  foldable: SqlitePool[]
  expired: boolean
}

/** What there is to do; part of the pulse's own read, so that an idle store is asked once a pulse. */
export function findChores({ pools, database }: HousekeepingParts, now: number): Chores {
  return {
    foldable: [...pools.all()].filter((pool) => foldable(pool, now, 1).length > 0),
    expired: database.statement('has_expired').get(now, now)?.['expired'] === 1,
  }
}

export async function keepHouse(parts: HousekeepingParts, { foldable, expired }: Chores): Promise<void> {
  for (const pool of foldable) await fold(parts, pool)
  if (expired) await parts.session.write('other', (tx) => forget(parts.database, tx.now))
}

function foldable(pool: SqlitePool, now: number, limit: number): Entry[] {
  return pool.journal.foldable({
    putBefore: now - FOLD_AFTER_MS,
    dueAfter: now + FOLD_DUE_BEYOND_MS,
    dueAfterIfSparse: now + FOLD_SPARSE_DUE_BEYOND_MS,
    limit,
  })
}

async function fold(parts: HousekeepingParts, pool: SqlitePool): Promise<void> {
  const rounds = pool.journal.size > LARGE_JOURNAL ? 4 : 1
  for (let round = 0; round < rounds; round++) await foldOnce(parts, pool)
}

async function foldOnce({ session, telemetry }: HousekeepingParts, pool: SqlitePool): Promise<void> {
  const count = await session.write('fold', ({ now }) => {
    const entries = foldable(pool, now, FOLD_LIMIT)
    foldEntries(pool, entries)
    return entries.length
  })
  telemetry.emit('store.folded', { pool: pool.settings.name, entries: count })
}

/** Moves young entries into the table as they are, turns included; in key order, which spares index pages. */
function foldEntries(pool: SqlitePool, entries: Entry[]): void {
  for (const entry of entries.toSorted((a, b) => (a.key < b.key ? -1 : 1))) replaceEntry(pool, entry, entry)
}

function forget(database: Database, now: number): void {
  database.statement('forget_fired').run(now, FORGET_LIMIT)
  database.statement('forget_answers').run(now, FORGET_LIMIT)
}
