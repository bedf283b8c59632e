// The pools that this process has opened: each with its settings, its table and its journal.
import { assert } from '../../errors.ts'
import type { Entry, Lane, Mode } from '../../pool/entry.ts'
import type { KeptPayloads } from '../../pool/payloads.ts'
import { refuseOtherSettings } from '../../pool/settings.ts'
import type { PoolSettings, StoredPool } from '../../pool/store.ts'
import type { Database } from './database.ts'
import { FiredSlots } from './fired-slots.ts'
import { Journal } from './journal.ts'
import { SqlitePayloads } from './payloads.ts'
import { RestingKeys } from './resting-keys.ts'
import type { Session } from './session.ts'
import { EntryTable } from './entry-table.ts'
import type { DueRequest } from './table-dues.ts'
import type { TurnCounter } from './turn-counter.ts'
import type { Mirror } from './work.ts'

export interface SqlitePool {
  id: number
  settings: Omit<PoolSettings, 'rememberMs' | 'deadForMs'>
  /** Every partition. */
  partitions: readonly number[]
  fired: FiredSlots
  rests: RestingKeys
  /** Null: the latest payload alone is kept. */
  payloads: SqlitePayloads | null
  table: EntryTable
  /** Young entries; always empty in mode `one`. */
  journal: Journal
}

/** A pool, and whether memory holds what the file does. */
interface OpenPool {
  pool: SqlitePool
  mirrors: readonly Mirror[]
  /** How often other processes had written when this pool was read last. */
  readAt: number
}

/** The number of a pool, and what the file says of it that is fixed. */
interface StoredFixed {
  id: number
  fansOut: boolean
  payloads: KeptPayloads
}

export interface PoolsParts {
  database: Database
  session: Session
  turns: TurnCounter
}

/** One mirror of all pools: those that a transaction uses are read, written and put back, the others cost nothing. */
export class Pools implements Mirror {
  readonly #parts: PoolsParts
  readonly #pools = new Map<string, OpenPool>()
  /** Those that were used since the last transaction ended. */
  readonly #used = new Set<OpenPool>()
  /** How often it was found that other processes have written. */
  #writtenElsewhere = 0

  constructor(parts: PoolsParts) {
    this.#parts = parts
    parts.session.mirror(this)
  }

  async open(settings: PoolSettings): Promise<void> {
    const {
      id,
      fansOut,
      payloads: kept,
    } = await this.#parts.session.write('other', () => this.#register(settings))
    if (this.#pools.has(settings.name)) return
    const fired = new FiredSlots(this.#parts.database, id)
    const rests = new RestingKeys(this.#parts.database, id)
    const table = new EntryTable(this.#parts.database, id)
    const journal = new Journal(this.#parts.database, id)
    const partitions = Array.from({ length: settings.partitions }, (_, partition) => partition)
    const stored = { ...settings, fansOut, payloads: kept }
    const payloads = kept === 'all' ? new SqlitePayloads(this.#parts.database, id, table) : null
    const pool = { id, settings: stored, partitions, fired, rests, payloads, table, journal }
    const opened = { pool, mirrors: [fired, rests, table, journal], readAt: -1 }
    this.#parts.session.look(() => this.#use(opened))
    this.#pools.set(settings.name, opened)
  }

  /** For the transaction that it is called in, not for a later one. [J2] */
  of(name: string): SqlitePool {
    const opened = this.#pools.get(name)
    assert(opened !== undefined, `the pool ${name} was not opened`)
    return this.#use(opened)
  }

  /** The pools that have a journal, for the transaction that it is called in. */
  withJournal(): SqlitePool[] {
    const found = [...this.#pools.values()].filter(({ pool }) => pool.settings.mode === 'each')
    return found.map((opened) => this.#use(opened))
  }

  refresh(): void {
    this.#writtenElsewhere += 1
  }

  flush(): void {
    for (const { mirrors } of this.#used) for (const mirror of mirrors) mirror.flush()
  }

  committed(): void {
    for (const { mirrors } of this.#used) for (const mirror of mirrors) mirror.committed()
    this.#used.clear()
  }

  rolledBack(): void {
    for (const { mirrors } of this.#used) for (const mirror of mirrors) mirror.rolledBack()
    this.#used.clear()
  }

  /** Follows what other processes have written before the transaction reads or changes anything of the pool. [J3] */
  #use(opened: OpenPool): SqlitePool {
    if (opened.readAt !== this.#writtenElsewhere) {
      for (const mirror of opened.mirrors) mirror.refresh()
      opened.readAt = this.#writtenElsewhere
    }
    this.#used.add(opened)
    return opened.pool
  }

  /** Every pool of the file, by name, with its number. */
  stored(): { id: number; settings: StoredPool }[] {
    const rows = this.#parts.database.statement('all_pools').all() as Record<string, unknown>[]
    return rows.map((row) => ({ id: row['id'] as number, settings: toStored(row) }))
  }

  /** The pool of this name; null: the file has none. */
  storedOf(name: string): StoredPool | null {
    const row = this.#parts.database.statement('stored_pool').get(name)
    return row === undefined ? null : toStored(row)
  }

  readonly newTurn = (): number => this.#parts.turns.take(1)

  #register(settings: PoolSettings): StoredFixed {
    const found = this.#find(settings)
    const { deadForMs } = settings
    if (typeof deadForMs === 'number')
      this.#parts.database.statement('save_dead_for').run(deadForMs, found.id)
    return found
  }

  /** The pool's number and what is fixed of it; a new pool is added, and other settings are refused. */
  #find(settings: PoolSettings): StoredFixed {
    const { database } = this.#parts
    const { name, mode, partitions, rememberMs } = settings
    const row = database.statement('find_pool').get(name)
    if (row === undefined) {
      const { fansOut = false, throttleMs = 0, payloads = 'latest' } = settings
      const added = database
        .statement('add_pool')
        .run(name, mode, partitions, rememberMs ?? 0, fansOut ? 1 : 0, throttleMs, payloads)
      return { id: Number(added.lastInsertRowid), fansOut, payloads }
    }
    const fansOut = row['fans_out'] === 1
    const payloads = row['payloads'] as KeptPayloads
    const fixed = { mode: row['mode'] as Mode, partitions: row['partitions'] as number }
    const stored = { name, ...fixed, fansOut, payloads }
    refuseOtherSettings(stored, settings)
    const id = row['id'] as number
    const opened = this.#pools.get(name)
    const pool = opened === undefined ? undefined : this.#use(opened)
    if (rememberMs !== null && rememberMs !== row['remember_ms']) {
      database.statement('save_remember').run(rememberMs, id)
      pool?.fired.change(rememberMs)
    }
    if (settings.throttleMs !== undefined && settings.throttleMs !== row['throttle_ms']) {
      database.statement('save_throttle').run(settings.throttleMs, id)
      pool?.rests.change(settings.throttleMs)
    }
    return { id, fansOut, payloads }
  }
}

function toStored(row: Record<string, unknown>): StoredPool {
  return {
    name: row['name'] as string,
    mode: row['mode'] as Mode,
    partitions: row['partitions'] as number,
    rememberMs: row['remember_ms'] as number,
    deadForMs: row['dead_for_ms'] as number,
    fansOut: row['fans_out'] === 1,
    throttleMs: row['throttle_ms'] as number,
    payloads: row['payloads'] as KeptPayloads,
  }
}

/** The entry of a name, wherever it stands. */
export function findEntry(pool: SqlitePool, key: string, slot: number | null): Entry | undefined {
  return (slot === null ? undefined : pool.journal.get(key, slot)) ?? pool.table.find(key, slot)
}

/** Removes an entry from where it stands. */
export function removeEntry(pool: SqlitePool, entry: Entry): void {
  if (isYoung(pool, entry)) pool.journal.remove(entry)
  else pool.table.delete(entry)
}

/** Writes what an entry has become into the table; a young one leaves the journal. */
export function replaceEntry(pool: SqlitePool, earlier: Entry | undefined, entry: Entry): void {
  const young = earlier !== undefined && isYoung(pool, earlier)
  if (young) pool.journal.remove(earlier)
  pool.table.save(entry, young ? undefined : earlier)
}

export function isYoung(pool: SqlitePool, entry: Entry): boolean {
  return entry.slot !== null && pool.journal.get(entry.key, entry.slot)?.turn === entry.turn
}

/** Entries that are due, in due order. */
export function dueEntries(pool: SqlitePool, request: DueRequest): Entry[] {
  const young = request.lanes.includes('normal') ? pool.journal.due(request) : []
  const old = pool.table.due(request)
  if (old.length === 0) return young
  return young.length === 0 ? old : mergeByDue(old, young, request.limit)
}

/** When the first entry of some partitions is due; null: nothing waits there. */
export function nextDueAt(pool: SqlitePool, partitions: readonly number[]): number | null {
  return earlier(pool.journal.nextDueAt(partitions), pool.table.nextDueAt(partitions))
}

/** When the first entry of some partitions and a lane is due after a moment; null: none waits. */
export function dueAfter(
  pool: SqlitePool,
  { partitions, lane, now }: { partitions: readonly number[]; lane: Lane; now: number },
): number | null {
  const young = lane === 'normal' ? pool.journal.dueAfter(partitions, now) : null
  const old = pool.table.dueAfter(partitions, lane, now)
  return earlier(young, old)
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

/** The first of two lists that are each in due order. */
function mergeByDue(first: Entry[], second: Entry[], limit: number): Entry[] {
  const merged: Entry[] = []
  let [left, right] = [0, 0]
  while (merged.length < limit) {
    const [a, b] = [first[left], second[right]]
    if (a !== undefined && (b === undefined || a.next.dueAt <= b.next.dueAt)) {
      merged.push(a)
      left += 1
    } else if (b !== undefined) {
      merged.push(b)
      right += 1
    } else break
  }
  return merged
}
