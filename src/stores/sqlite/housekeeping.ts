// What the pulse lets the store do beside its answer: fold entries that wait long from the journal into the
// table, and forget fired slots and kept answers whose time is over. Bounded, so that a pulse stays short.
import type { Telemetry } from '../../telemetry.ts'
import type { Database } from './database.ts'
import { type Pools, type SqlitePool, replaceEntry } from './pools.ts'
import type { Session } from './session.ts'

/** Younger entries stay in the journal: most ticks are due soon, and then never touch the table's indexes. */
const FOLD_AFTER_MS = 10_000
/** Entries that are due sooner stay, too: by the time they were folded they would be gone. */
const FOLD_DUE_BEYOND_MS = 60_000
/** About 20 ms of work. */
const FOLD_LIMIT = 1000
const FORGET_LIMIT = 1000

export interface HousekeepingParts {
  database: Database
  session: Session
  pools: Pools
  telemetry: Telemetry
}

export async function keepHouse(parts: HousekeepingParts, now: number): Promise<void> {
  for (const pool of parts.pools.all()) {
    if (pool.journal.foldable(now - FOLD_AFTER_MS, now + FOLD_DUE_BEYOND_MS, 1).length > 0) await fold(parts, pool)
  }
  const expired = parts.session.read(() => parts.database.statement('has_expired').get(now)?.['expired'])
  if (expired === 1) await parts.session.write('other', (tx) => forget(parts.database, tx.now))
}

async function fold({ session, telemetry }: HousekeepingParts, pool: SqlitePool): Promise<void> {
  const count = await session.write('fold', ({ now }) => {
    const entries = pool.journal.foldable(now - FOLD_AFTER_MS, now + FOLD_DUE_BEYOND_MS, FOLD_LIMIT)
    foldEntries(pool, entries)
    return entries.length
  })
  telemetry.emit('store.folded', { pool: pool.settings.name, entries: count })
}

/** Moves young entries into the table as they are, turns included; in key order, which spares index pages. */
function foldEntries(pool: SqlitePool, entries: Parameters<typeof replaceEntry>[2][]): void {
  for (const entry of entries.toSorted((a, b) => (a.key < b.key ? -1 : 1))) replaceEntry(pool, entry, entry)
}

function forget(database: Database, now: number): void {
  database.statement('forget_fired').run(now, FORGET_LIMIT)
  database.statement('forget_answers').run(now, FORGET_LIMIT)
}
