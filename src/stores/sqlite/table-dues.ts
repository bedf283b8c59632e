// What is due in the table, by partition and lane: when the first entry of each is due, as far as it is known, and
// the entries themselves, merged in due order. What a take has read is kept until it is written, so that a later take, and
// the settle, need not read it again.
import type { StatementSync } from 'node:sqlite'
import { type Entry, LANES, type Lane } from '../../pool/entry.ts'
import type { DueSpan } from './due-queues.ts'
import { DueWindow, LAST_TURN } from './due-window.ts'
import { DueHeap } from './due-heap.ts'

/** Entries of some lanes. */
export interface DueRequest extends DueSpan {
  lanes: readonly Lane[]
}

export interface TableDuesParts {
  pool: number
  /** A named query, which finds all that was written so far. */
  statement(name: string): StatementSync
  toEntries(rows: unknown[]): Entry[]
}

/** The fewest rows that are read at once: one costs about as much as a statement. */
const LEAST_ROWS = 16

/** The most entries that are kept after a take, as many as one may answer; some 500 bytes each, without their payloads. */
export const MOST_KEPT = 30_000

/** SQLite has no infinity among its integers. */
const MAX = Number.MAX_SAFE_INTEGER

/** Entries of one partition and lane, those that are known first, then more in pieces. */
interface Cursor {
  partition: number
  lane: Lane
  window: DueWindow
  entries: Iterator<Entry>
  /** How many are read at once. */
  piece: number
}

export class TableDues {
  readonly #parts: TableDuesParts
  /** By partition and lane; null: none waits. What is missing is not known: ask the file. */
  readonly #first = new Map<number, number | null>()
  /** Whether a lane has an entry at all. Most have none, and then no partition need be asked. */
  readonly #filled = new Map<Lane, boolean>()
  /** By partition and lane. */
  readonly #windows = new Map<number, DueWindow>()
  /** The entries of all windows, by turn. */
  readonly #known = new Map<number, Entry>()

  constructor(parts: TableDuesParts) {
    this.#parts = parts
  }

  /** An entry that was read, by its turn; undefined: it is not known here. */
  known(turn: number): Entry | undefined {
    return this.#known.get(turn)
  }

  added(entry: Entry): void {
    const { partition, lane, next, state } = entry
    if (state === 'dead') return
    this.#filled.set(lane, true)
    const name = nameOf(partition, lane)
    const first = this.#first.get(name)
    if (first === null || (first !== undefined && next.dueAt < first)) this.#first.set(name, next.dueAt)
    if (this.#windows.get(name)?.add(entry) === true) this.#known.set(entry.turn, entry)
  }

  /** The entry has become another one of the same turn. */
  changed(earlier: Entry, entry: Entry): void {
    const isInPlace = earlier.next.dueAt === entry.next.dueAt && earlier.state === entry.state
    if (!isInPlace || earlier.lane !== entry.lane) this.removed(earlier)
    this.added(entry)
  }

  removed({ partition, lane, next, turn }: Entry): void {
    this.#filled.delete(lane)
    const name = nameOf(partition, lane)
    if (next.dueAt <= (this.#first.get(name) ?? -Infinity)) this.#first.delete(name)
    if (this.#known.delete(turn)) this.#windows.get(name)?.delete(turn)
  }

  forget(): void {
    this.#first.clear()
    this.#filled.clear()
    this.#windows.clear()
    this.#known.clear()
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
        const row = this.#parts.statement('next_due_after').get(this.#parts.pool, partition, lane, now)
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
    const next: (Entry | undefined)[] = []
    const heap = new DueHeap()
    const step = (source: number): void => {
      const entry = this.#nextOf(cursors[source] as Cursor, request)
      next[source] = entry
      if (entry !== undefined) heap.push(entry.next.dueAt, source, 0)
    }
    for (const source of cursors.keys()) step(source)
    while (!heap.isEmpty && found.length < request.limit) {
      const { source } = heap
      heap.pop()
      found.push(next[source] as Entry)
      if (found.length < request.limit) step(source)
    }
    if (this.#known.size > MOST_KEPT) {
      this.#windows.clear()
      this.#known.clear()
    }
    return found
  }

  /** One for each partition and lane of which something may be due. */
  #cursors({ partitions, lanes, from, until, limit }: DueRequest): Cursor[] {
    const cursors: Cursor[] = []
    for (const lane of lanes) {
      if (!this.#isFilled(lane)) continue
      for (const partition of partitions) {
        if ((this.#firstOf(partition, lane) ?? Infinity) > until) continue
        const window = this.#windowOf(partition, lane, Math.max(from, -MAX))
        cursors.push({ partition, lane, window, entries: window.entries(), piece: 0 })
      }
    }
    const piece = Math.max(LEAST_ROWS, Math.ceil(limit / cursors.length))
    for (const cursor of cursors) cursor.piece = piece
    return cursors
  }

  /** One that begins later is given up for one that begins here. */
  #windowOf(partition: number, lane: Lane, from: number): DueWindow {
    const name = nameOf(partition, lane)
    const known = this.#windows.get(name)
    if (known !== undefined && known.start <= from) return known
    for (const { turn } of known?.entries() ?? []) this.#known.delete(turn)
    const window = new DueWindow(from)
    this.#windows.set(name, window)
    return window
  }

  #nextOf(cursor: Cursor, { from, until }: DueRequest): Entry | undefined {
    for (;;) {
      const { value, done } = cursor.entries.next()
      if (done === true) {
        if (cursor.window.reaches(until) || !this.#readMore(cursor, until)) return undefined
      } else if (value.next.dueAt >= from) return value.next.dueAt <= until ? value : undefined
    }
  }

  /** Each piece is twice as long as the one before it; false: there is no more. */
  #readMore(cursor: Cursor, until: number): boolean {
    const { partition, lane, window, piece } = cursor
    const { endDueAt, endTurn } = window
    const firstDueAt = endTurn === LAST_TURN ? endDueAt + 1 : endDueAt
    const rows = this.#parts
      .statement('due_entries')
      .all(this.#parts.pool, partition, lane, firstDueAt, until, endDueAt, endTurn, piece)
    const entries = this.#parts.toEntries(rows)
    window.extend(entries, rows.length < piece ? until : null)
    for (const entry of entries) this.#known.set(entry.turn, entry)
    cursor.entries = entries.values()
    cursor.piece *= 2
    return entries.length > 0
  }

  #isFilled(lane: Lane): boolean {
    let filled = this.#filled.get(lane)
    if (filled === undefined) {
      filled = this.#parts.statement('has_live').get(this.#parts.pool, lane) !== undefined
      this.#filled.set(lane, filled)
    }
    return filled
  }

  #firstOf(partition: number, lane: Lane): number | null {
    const name = nameOf(partition, lane)
    let first = this.#first.get(name)
    if (first === undefined) {
      first = this.#parts.statement('next_due').get(this.#parts.pool, partition, lane)?.['due_at'] as
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
