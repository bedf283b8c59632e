// The table of entries: rows to entries and back. Every rule is the caller's.
import { type Entry, type EntryState, LANES, type Lane } from '../../pool/entry.ts'
import type { EntryCursor } from '../../pool/store.ts'
import type { Database } from './database.ts'
import type { Mirror } from './session.ts'

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
  state: Entry['state']
  failing: number
  enqueued_at: number
  put_at: number
}

/** Entries after the cursor and due before a moment. */
export interface TableRange {
  after: EntryCursor
  before: number
  limit: number
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

export class Table implements Mirror {
  readonly #database: Database
  readonly #pool: number
  readonly #partitions: number
  /** When the table's first entry is due; undefined: not known, ask the file. */
  #nextDueAt: number | null | undefined

  constructor(database: Database, pool: { id: number; partitions: number }) {
    this.#database = database
    this.#pool = pool.id
    this.#partitions = pool.partitions
  }

  isEmpty(): boolean {
    return this.#database.statement('has_entries').get(this.#pool) === undefined
  }

  find(key: string, slot: number | null): Entry | undefined {
    const row = this.#database.statement('find_entry').get(this.#pool, key, slotColumn(slot))
    return row === undefined ? undefined : toEntry(row as unknown as EntryRow)
  }

  ofKey(key: string): Entry[] {
    return toEntries(this.#database.statement('entries_of_key').all(this.#pool, key))
  }

  /** Writes an entry in the place of its earlier self, whose turn may have been another. */
  save(entry: Entry, earlierTurn: number | undefined): void {
    if (earlierTurn !== undefined && earlierTurn !== entry.turn)
      this.#database.statement('delete_entry').run(earlierTurn)
    const { next, after } = entry
    this.#database
      .statement('save_entry')
      .run(
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
        entry.state,
        entry.failing ? 1 : 0,
        entry.enqueuedAt,
        entry.putAt,
      )
    this.#nextDueAt = undefined
  }

  delete(turn: number): void {
    this.#database.statement('delete_entry').run(turn)
    this.#nextDueAt = undefined
  }

  /** Entries of a partition and lane that are due in [from, until], in due order. */
  due(place: { partition: number; lane: Lane }, until: number, limit: number, from = -MAX): Entry[] {
    const { partition, lane } = place
    const rows = this.#database
      .statement('due_entries')
      .all(this.#pool, partition, lane, Math.max(from, -MAX), Math.min(until, MAX), limit)
    return toEntries(rows)
  }

  nextDueAt(): number | null {
    if (this.#nextDueAt !== undefined) return this.#nextDueAt
    let first: number | null = null
    for (const { partition, lane } of this.#places()) {
      const dueAt = this.#database.statement('next_due').get(this.#pool, partition, lane)?.['due_at'] as
        | number
        | null
      if (dueAt !== null && (first === null || dueAt < first)) first = dueAt
    }
    this.#nextDueAt = first
    return first
  }

  /** Up to `range.limit` live entries of each partition and lane, by (dueAt, key, slot). */
  listLive(range: TableRange, failed: boolean | null): Entry[] {
    const entries: Entry[] = []
    const statement = this.#database.statement('list_live')
    const { after, before, limit } = range
    const wanted = failed === null ? null : Number(failed)
    for (const { partition, lane } of this.#places()) {
      const place = [this.#pool, partition, lane] as const
      const rows = statement.all(
        ...place,
        after.dueAt,
        after.key,
        slotColumn(after.slot),
        before,
        wanted,
        limit,
      )
      entries.push(...toEntries(rows))
    }
    return entries
  }

  listDead({ after, before, limit }: TableRange): Entry[] {
    const statement = this.#database.statement('list_dead')
    return toEntries(statement.all(this.#pool, after.dueAt, after.key, slotColumn(after.slot), before, limit))
  }

  count(now: number): Record<EntryState, number> {
    const live = this.#database.statement('count_live').get(this.#pool, now) as Record<string, number>
    const dead = this.#database.statement('count_dead').get(this.#pool) as Record<string, number>
    return {
      waiting: live['waiting'] as number,
      due: live['due'] as number,
      'backing-off': live['backing_off'] as number,
      dead: dead['dead'] as number,
    }
  }

  refresh(): void {
    this.#nextDueAt = undefined
  }

  flush(): void {}

  committed(): void {}

  rolledBack(): void {
    this.#nextDueAt = undefined
  }

  *#places(): Generator<{ partition: number; lane: Lane }> {
    for (let partition = 0; partition < this.#partitions; partition++)
      for (const lane of LANES) yield { partition, lane }
  }
}

/** SQLite has no infinity among its integers. */
const MAX = Number.MAX_SAFE_INTEGER

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
    next: { dueAt: row.due_at, tally: row.tally, payload: row.payload },
    after:
      row.after_due_at === null
        ? null
        : { dueAt: row.after_due_at, tally: row.after_tally ?? 0, payload: row.after_payload },
    attempt: row.attempt,
    state: row.state,
    failing: row.failing === 1,
    enqueuedAt: row.enqueued_at,
    putAt: row.put_at,
  }
}
