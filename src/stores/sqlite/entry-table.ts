// The table of entries: rows to entries and back. Every rule is the caller's.
import type { StatementSync } from 'node:sqlite'
import { type Entry, type EntryState, LANES, type Lane, type PlannedRun } from '../../pool/entry.ts'
import { endOfPrefix } from '../../pool/order.ts'
import type { EntryQuery } from '../../pool/store.ts'
import type { Database } from './database.ts'
import type { DueRange } from './due-queues.ts'
import type { Mirror } from './work.ts'
import { type DueRequest, TableDues } from './table-dues.ts'

interface EntryRow {
  turn: number
  key: string
  slot: number
  grp: string
  partition: number
  lane: Lane
  due_at: number
  tally: number
  payload: string | null
  after_due_at: number | null
  after_tally: number | null
  after_payload: string | null
  attempt: number
  crashes: number | null
  state: Entry['state']
  failing: number
  enqueued_at: number
  put_at: number
  since: number | null
  after_since: number | null
  last_error: string | null
}

/** Stands for "no slot" in the file; no `at` is so early. */
const NO_SLOT = Number.MIN_SAFE_INTEGER

/** A slot as the file holds it. */
export function slotColumn(slot: number | null): number {
  return slot ?? NO_SLOT
}

/** A slot as the file held it. */
export function fromSlotColumn(column: number): number | null {
  return column === NO_SLOT ? null : column
}

/** The beginning of the key and the group that a listing names. */
type Names = Pick<EntryQuery, 'prefix' | 'group'>

/** Which entries of a key a listing wants. */
interface KindOfEntry extends Pick<EntryQuery, 'group'> {
  dead: boolean | null
  failed: boolean | null
}

function namesOf({ prefix = '', group }: Names): (string | null)[] {
  return [prefix, endOfPrefix(prefix), group ?? null]
}

export class EntryTable implements Mirror {
  readonly #database: Database
  readonly #pool: number
  readonly #dues: TableDues
  /** The turns of entries that are to be deleted: all at once, before anything else is asked or written. */
  #deleted: number[] = []

  constructor(database: Database, pool: number) {
    this.#database = database
    this.#pool = pool
    this.#dues = new TableDues({ pool, toEntries, statement: (name) => this.#statement(name) })
  }

  isEmpty(): boolean {
    return this.#statement('has_entries').get(this.#pool) === undefined
  }

  find(key: string, slot: number | null): Entry | undefined {
    const row = this.#statement('find_entry').get(this.#pool, key, slotColumn(slot))
    return row === undefined ? undefined : toEntry(row as unknown as EntryRow)
  }

  /** The entry of a name and turn, if it was read lately and is live; undefined: look for it by its name. */
  known({ key, slot, turn }: Pick<Entry, 'key' | 'slot' | 'turn'>): Entry | undefined {
    const entry = this.#dues.known(turn)
    return entry?.key === key && entry.slot === slot ? entry : undefined
  }

  /** The first slots of a key. */
  ofKey(key: string, limit: number): Entry[] {
    return toEntries(this.#statement('entries_of_key').all(this.#pool, key, limit))
  }

  /** Up to `range.limit` entries of a key, by (dueAt, slot); null of `dead` or `failed`: both kinds. */
  listKey(key: string, { after, before, limit }: DueRange, { dead, failed, group }: KindOfEntry): Entry[] {
    const start = [after.dueAt, after.key, slotColumn(after.slot)]
    const wanted = [dead, failed].map((each) => (each === null ? null : Number(each)))
    const statement = this.#statement('list_key')
    return toEntries(statement.all(this.#pool, key, ...start, before, ...wanted, group ?? null, limit))
  }

  /** Writes an entry in the place of its earlier self, whose turn may have been another. */
  save(entry: Entry, earlier: Entry | undefined): void {
    if (earlier !== undefined && earlier.turn !== entry.turn) this.delete(earlier)
    const { next, after } = entry
    this.#statement('save_entry').run(
      entry.turn,
      this.#pool,
      entry.key,
      slotColumn(entry.slot),
      entry.group,
      entry.partition,
      entry.lane,
      next.dueAt,
      next.tally,
      next.payload,
      after?.dueAt ?? null,
      after?.tally ?? null,
      after?.payload ?? null,
      entry.attempt,
      entry.crashes === 0 ? null : entry.crashes,
      entry.state,
      entry.failing ? 1 : 0,
      entry.enqueuedAt,
      entry.putAt,
      next.since ?? null,
      after?.since ?? null,
      entry.lastError,
    )
    if (earlier?.turn === entry.turn) this.#dues.changed(earlier, entry)
    else this.#dues.added(entry)
  }

  delete(entry: Entry): void {
    this.#deleted.push(entry.turn)
    this.#dues.removed(entry)
  }

  /** Entries that are due, in due order. */
  due(request: DueRequest): Entry[] {
    return this.#dues.due(request)
  }

  nextDueAt(partitions: readonly number[]): number | null {
    return this.#dues.nextDueAt(partitions)
  }

  dueAfter(partitions: readonly number[], lane: Lane, now: number): number | null {
    return this.#dues.dueAfter(partitions, lane, now)
  }

  /** Up to `range.limit` live entries of each lane, by (dueAt, key, slot). */
  listLive({ after, before, limit }: DueRange, failed: boolean | null, names: Names): Entry[] {
    const statement = this.#statement('list_live')
    const wanted = failed === null ? null : Number(failed)
    return LANES.flatMap((lane) =>
      toEntries(
        statement.all(
          this.#pool,
          lane,
          after.dueAt,
          after.key,
          slotColumn(after.slot),
          before,
          wanted,
          ...namesOf(names),
          limit,
        ),
      ),
    )
  }

  listDead({ after, before, limit }: DueRange, names: Names): Entry[] {
    const statement = this.#statement('list_dead')
    const start = [after.dueAt, after.key, slotColumn(after.slot)]
    return toEntries(statement.all(this.#pool, ...start, before, ...namesOf(names), limit))
  }

  count(now: number): Record<EntryState, number> {
    const live = this.#statement('count_live').get(now, this.#pool) as Record<string, number>
    const dead = this.#statement('count_dead').get(this.#pool) as Record<string, number>
    return {
      waiting: live['waiting'] as number,
      due: live['due'] as number,
      'backing-off': live['backing_off'] as number,
      dead: dead['dead'] as number,
    }
  }

  refresh(): void {
    this.#dues.forget()
  }

  flush(): void {
    if (this.#deleted.length === 0) return
    this.#database.statement('delete_entries').run(JSON.stringify(this.#deleted))
    this.#deleted = []
  }

  committed(): void {}

  rolledBack(): void {
    this.#deleted = []
    this.#dues.forget()
  }

  #statement(name: string): StatementSync {
    this.flush()
    return this.#database.statement(name)
  }
}

function toEntries(rows: unknown[]): Entry[] {
  return (rows as EntryRow[]).map(toEntry)
}

function toEntry(row: EntryRow): Entry {
  return {
    key: row.key,
    slot: fromSlotColumn(row.slot),
    group: row.grp,
    partition: row.partition,
    turn: row.turn,
    lane: row.lane,
    next: toRun(row.due_at, row.tally, row.payload, row.since),
    after:
      row.after_due_at === null
        ? null
        : toRun(row.after_due_at, row.after_tally ?? 0, row.after_payload, row.after_since),
    attempt: row.attempt,
    crashes: row.crashes ?? 0,
    state: row.state,
    failing: row.failing === 1,
    lastError: row.last_error,
    enqueuedAt: row.enqueued_at,
    putAt: row.put_at,
  }
}

function toRun(dueAt: number, tally: number, payload: string | null, since: number | null): PlannedRun {
  return since === null ? { dueAt, tally, payload } : { dueAt, tally, payload, since }
}
