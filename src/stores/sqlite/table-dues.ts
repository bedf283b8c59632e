// What is due in the table, by partition and lane: when the first entry of each is due, as far as it is known, and
// the entries themselves, merged in due order.
import { type Entry, LANES, type Lane } from '../../pool/entry.ts'
import type { Database } from './database.ts'
import type { DueSpan } from './due-queues.ts'
import { Frontier } from './frontier.ts'

/** Entries of some lanes. */
export interface DueRequest extends DueSpan {
  lanes: readonly Lane[]
}

/** The fewest rows that are read at once: one costs about as much as a statement. */
const LEAST_ROWS = 16

/** SQLite has no infinity among its integers. */
const MAX = Number.MAX_SAFE_INTEGER

/** Entries of one partition and lane, read in pieces. */
interface Cursor {
  partition: number
  lane: Lane
  entries: Entry[]
  read: number
  /** How many are read at once; fewer have come: there are no more. */
  piece: number
}

export class TableDues {
  readonly #database: Database
  readonly #pool: number
  readonly #toEntries: (rows: unknown[]) => Entry[]
  /** By partition and lane; null: none waits. What is missing is not known: ask the file. */
  readonly #first = new Map<number, number | null>()
  /** Whether a lane has an entry at all. Most have none, and then no partition need be asked. */
  readonly #filled = new Map<Lane, boolean>()

  constructor(database: Database, pool: number, toEntries: (rows: unknown[]) => Entry[]) {
    this.#database = database
    this.#pool = pool
    this.#toEntries = toEntries
  }

  added({ partition, lane, next, state }: Entry): void {
    if (state === 'dead') return
    this.#filled.set(lane, true)
    const name = nameOf(partition, lane)
    const first = this.#first.get(name)
    if (first === null || (first !== undefined && next.dueAt < first)) this.#first.set(name, next.dueAt)
  }

  removed({ partition, lane, next }: Entry): void {
    this.#filled.delete(lane)
    const name = nameOf(partition, lane)
    if (next.dueAt <= (this.#first.get(name) ?? -Infinity)) this.#first.delete(name)
  }

  forget(): void {
    this.#first.clear()
    this.#filled.clear()
  }

  nextDueAt(partitions: readonly number[]): number | null {
    let first: number | null = null
    for (const lane of LANES) {
      if (!this.#isFilled(lane)) continue
      for (const partition of partitions) {
        const dueAt = this.#firstOf(partition, lane)
        if (dueAt !== null && (first === null || dueAt < first)) first = dueAt
      }
    }
    return first
  }

  /** When the first entry of a lane is due after a moment; the file is asked only where something is due before. */
  dueAfter(partitions: readonly number[], lane: Lane, now: number): number | null {
    if (!this.#isFilled(lane)) return null
    let first: number | null = null
    for (const partition of partitions) {
      let dueAt = this.#firstOf(partition, lane)
      if (dueAt !== null && dueAt <= now) {
        const row = this.#database.statement('next_due_after').get(this.#pool, partition, lane, now)
        dueAt = row?.['due_at'] as number | null
      }
      if (dueAt !== null && (first === null || dueAt < first)) first = dueAt
    }
    return first
  }

  /** Reads little more than it answers, however much is due. */
  due(request: DueRequest): Entry[] {
    const found: Entry[] = []
    const cursors = this.#cursors(request)
    const frontier = new Frontier()
    const step = (source: number, place: number): void => {
      const entry = this.#entryAt(cursors[source] as Cursor, place, request)
      if (entry !== undefined) frontier.push(entry.next.dueAt, source, place)
    }
    for (const source of cursors.keys()) step(source, 0)
    while (!frontier.isEmpty && found.length < request.limit) {
      const { source, place } = frontier
      frontier.pop()
      const { entries, read } = cursors[source] as Cursor
      found.push(entries[place - read + entries.length] as Entry)
      if (found.length < request.limit) step(source, place + 1)
    }
    return found
  }

  /** One for each partition and lane of which something is due. */
  #cursors({ partitions, lanes, until, limit }: DueRequest): Cursor[] {
    const cursors: Cursor[] = []
    for (const lane of lanes) {
      if (!this.#isFilled(lane)) continue
      for (const partition of partitions) {
        if ((this.#firstOf(partition, lane) ?? Infinity) > until) continue
        cursors.push({ partition, lane, entries: [], read: 0, piece: 0 })
      }
    }
    const piece = Math.max(LEAST_ROWS, Math.ceil(limit / cursors.length))
    for (const cursor of cursors) cursor.piece = piece
    return cursors
  }

  /** The entry at a place, which is the next one; each piece is twice as long as the one before it. */
  #entryAt(cursor: Cursor, place: number, { from, until }: DueRequest): Entry | undefined {
    if (place === cursor.read) {
      if (place > 0 && cursor.entries.length < cursor.piece) return undefined
      if (place > 0) cursor.piece *= 2
      const { partition, lane, piece } = cursor
      const statement = this.#database.statement('due_entries')
      const rows = statement.all(this.#pool, partition, lane, Math.max(from, -MAX), until, piece, place)
      cursor.entries = this.#toEntries(rows)
      cursor.read = place + rows.length
    }
    return cursor.entries[place - cursor.read + cursor.entries.length]
  }

  #isFilled(lane: Lane): boolean {
    let filled = this.#filled.get(lane)
    if (filled === undefined) {
      filled = this.#database.statement('has_live').get(this.#pool, lane) !== undefined
      this.#filled.set(lane, filled)
    }
    return filled
  }

  #firstOf(partition: number, lane: Lane): number | null {
    const name = nameOf(partition, lane)
    let first = this.#first.get(name)
    if (first === undefined) {
      first = this.#database.statement('next_due').get(this.#pool, partition, lane)?.['due_at'] as
        | number
        | null
      this.#first.set(name, first)
    }
    return first
  }
}

function nameOf(partition: number, lane: Lane): number {
  return partition * LANES.length + LANES.indexOf(lane)
}
