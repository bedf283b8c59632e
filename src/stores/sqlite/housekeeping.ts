// What the store does after a pulse: fold entries that wait long from the journal into the
// table, and forget fired slots, kept answers and emptied segments whose time is over. In bounded pieces, each a
// transaction of its own, so that others come between.
import type { Clock } from '../../clock.ts'
import type { Entry } from '../../pool/entry.ts'
import type { Emitter } from '../../telemetry.ts'
import type { Database } from './database.ts'
import { type Pools, type SqlitePool, replaceEntry } from './pools.ts'
import type { Session } from './session.ts'
import type { Transaction } from './work.ts'

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
/** With two pulses a second: up to 40,000 fired slots, answers and segments a second each are forgotten. */
const FORGET_ROUNDS = 20
/** A process that has not looked at the file for longer reads the whole journal again. */
const PURGE_AFTER_MS = 30_000

export interface HousekeepingParts {
  database: Database
  session: Session
  pools: Pools
  telemetry: Emitter
  clock: Clock
}

export interface Chores {
  /** Pools with entries to fold, by name, and in how many rounds. */
  foldable: { name: string; rounds: number }[]
  expired: boolean
}

export class Housekeeping {
  readonly #parts: HousekeepingParts
  /** The journal's change number at a moment: when that is long enough ago, earlier ones may be purged. */
  #mark: { change: number; at: number }
  #purgeable = -1
  #running: Promise<void> | null = null

  constructor(parts: HousekeepingParts) {
    this.#parts = parts
    this.#mark = { change: -1, at: parts.clock.mono() }
  }

  /** What there is to do; part of the pulse's own read, so that an idle store is asked once a pulse. */
  find(now: number): Chores {
    const { database, pools } = this.#parts
    this.#moveMark()
    const expired = database.statement('has_expired').get(now, now, this.#purgeable)
    const folded = pools.withJournal().filter((pool) => foldable(pool, now, 1).length > 0)
    return { foldable: folded.map(toFold), expired: expired?.['expired'] === 1 }
  }

  /**
   * Begins what there is to do, unless the last time is not over yet. The pulse does not wait for it, so that a
   * full disk does not fail the pulse; a failure is reported, and a later pulse tries again.
   */
  begin(chores: Chores): void {
    if (this.#running !== null || (chores.foldable.length === 0 && !chores.expired)) return
    this.#running = this.#do(chores).finally(() => (this.#running = null))
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#running
  }

  async #do({ foldable: pools, expired }: Chores): Promise<void> {
    for (const { name, rounds } of pools) await this.#attempt(() => this.#fold(name, rounds))
    if (expired) await this.#attempt(() => this.#forget())
  }

  async #attempt(chore: () => Promise<void>): Promise<void> {
    try {
      await chore()
    } catch (error) {
      this.#parts.telemetry.emit('store.failed', { error })
    }
  }

  #moveMark(): void {
    const at = this.#parts.clock.mono()
    if (at - this.#mark.at < PURGE_AFTER_MS) return
    this.#purgeable = this.#mark.change
    this.#mark = { change: this.#parts.database.statement('last_change').get()?.['next'] as number, at }
  }

  async #fold(name: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) await this.#foldOnce(name)
  }

  async #foldOnce(name: string): Promise<void> {
    const count = await this.#parts.session.write('fold', ({ now }) => {
      const pool = this.#parts.pools.of(name)
      const entries = foldable(pool, now, FOLD_LIMIT)
      foldEntries(pool, entries)
      return entries.length
    })
    this.#parts.telemetry.emit('store.folded', { pool: name, entries: count })
  }

  async #forget(): Promise<void> {
    let more = true
    for (let round = 0; more && round < FORGET_ROUNDS; round++) {
      more = await this.#parts.session.write('other', (tx) => this.#forgetSome(tx))
    }
  }

  /** Answers whether there may be more. */
  #forgetSome({ now }: Transaction): boolean {
    const { database } = this.#parts
    const purged = database.statement('purge_emptied').run(this.#purgeable, FORGET_LIMIT)
    if (purged.changes > 0) database.statement('save_purged').run(this.#purgeable)
    const fired = database.statement('forget_fired').run(now, FORGET_LIMIT)
    const answers = database.statement('forget_answers').run(now, FORGET_LIMIT)
    return [purged, fired, answers].some(({ changes }) => changes === FORGET_LIMIT)
  }
}

function toFold({ settings, journal }: SqlitePool): { name: string; rounds: number } {
  return { name: settings.name, rounds: journal.size > LARGE_JOURNAL ? 4 : 1 }
}

function foldable(pool: SqlitePool, now: number, limit: number): Entry[] {
  return pool.journal.foldable({
    putBefore: now - FOLD_AFTER_MS,
    dueAfter: now + FOLD_DUE_BEYOND_MS,
    dueAfterIfSparse: now + FOLD_SPARSE_DUE_BEYOND_MS,
    limit,
  })
}

/** Moves young entries into the table as they are, turns included; in key order, which spares index pages. */
function foldEntries(pool: SqlitePool, entries: Entry[]): void {
  for (const entry of entries.toSorted((a, b) => (a.key < b.key ? -1 : 1))) replaceEntry(pool, entry, entry)
}
