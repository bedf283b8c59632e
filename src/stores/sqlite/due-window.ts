// A stretch of one partition and lane of the table that memory knows: every live entry from its start up to its end, in
// due order. So an entry is read once on its way from a take to its settle, however often it is asked for meanwhile.
import type { Entry } from '../../pool/entry.ts'

/** No turn is higher: everything that is due at the moment of the end is known. */
export const LAST_TURN = Number.MAX_SAFE_INTEGER

export class DueWindow {
  /** What is due before it is not known. */
  readonly start: number
  /** By turn, in the order of due time and turn. */
  #entries = new Map<number, Entry>()
  /** The last entry that is known, or may be, by due time and turn. */
  #endDueAt: number
  #endTurn = -1
  /** The last entry that was added behind all others. */
  #last = { dueAt: -Infinity, turn: -1 }

  constructor(start: number) {
    this.start = start
    this.#endDueAt = start
  }

  get endDueAt(): number {
    return this.#endDueAt
  }

  get endTurn(): number {
    return this.#endTurn
  }

  /** All that it knows, in due order. */
  entries(): MapIterator<Entry> {
    return this.#entries.values()
  }

  /** Whether everything that is due at or before a moment is known. */
  reaches(until: number): boolean {
    return this.#endDueAt > until || (this.#endDueAt === until && this.#endTurn === LAST_TURN)
  }

  /** Adds the entries that follow in the file; without a moment until which they are all, the last of them is the end. */
  extend(entries: readonly Entry[], until: number | null): void {
    for (const entry of entries) this.#entries.set(entry.turn, entry)
    const last = entries.at(-1)
    if (last !== undefined) this.#last = { dueAt: last.next.dueAt, turn: last.turn }
    if (until !== null) [this.#endDueAt, this.#endTurn] = [until, LAST_TURN]
    else if (last !== undefined) [this.#endDueAt, this.#endTurn] = [last.next.dueAt, last.turn]
  }

  /** Takes in an entry that was written; false: it lies outside. */
  add(entry: Entry): boolean {
    const { turn } = entry
    const { dueAt } = entry.next
    if (dueAt < this.start || dueAt > this.#endDueAt) return false
    if (dueAt === this.#endDueAt && turn > this.#endTurn) return false
    const inPlace = this.#entries.get(turn)?.next.dueAt === dueAt
    this.#entries.set(turn, entry)
    if (inPlace) return true
    const isLast = dueAt > this.#last.dueAt || (dueAt === this.#last.dueAt && turn > this.#last.turn)
    if (isLast) this.#last = { dueAt, turn }
    // Hardly ever: nothing is written with a due time in the past, and turns grow.
    else this.#entries = sorted(this.#entries)
    return true
  }

  delete(turn: number): void {
    this.#entries.delete(turn)
  }
}

function sorted(entries: Map<number, Entry>): Map<number, Entry> {
  return new Map([...entries].sort(([a, left], [b, right]) => left.next.dueAt - right.next.dueAt || a - b))
}
