// A segment of the journal: the entries of one commit, as they are in memory and as they are in the file.
import type { Entry } from '../../pool/entry.ts'

/** Entries of one commit, their turns one after another. */
export interface JournalSegment {
  firstTurn: number
  putAt: number
  /** Null: gone. An entry that is kept outside of the indexes would not count, and memory would have no bound. */
  entries: (Entry | null)[]
  /** Bit i of these bytes: entry i is gone. */
  bits: number[]
  live: number
  /** No entry is due later; may be later than that of those that are left. */
  lastDueAt: number
}

type Row = [key: string, slot: number, partition: number, payload: string | null]

export function newSegment(firstTurn: number, putAt: number): JournalSegment {
  return { firstTurn, putAt, entries: [], bits: [], live: 0, lastDueAt: -Infinity }
}

/** Before anything of it is gone. */
export function encode({ entries }: JournalSegment): string {
  const rows = (entries as Entry[]).map(({ key, slot, partition, next }): Row => {
    return [key, slot as number, partition, next.payload]
  })
  return JSON.stringify(rows)
}

export function decode(text: string): Row[] {
  return JSON.parse(text) as Row[]
}

export function revive([key, slot, partition, payload]: Row, turn: number, putAt: number): Entry {
  return {
    key,
    slot,
    group: key,
    partition,
    turn,
    lane: 'normal',
    next: { dueAt: Math.max(slot, putAt), tally: 1, payload },
    after: null,
    attempt: 0,
    crashes: 0,
    state: 'live',
    failing: false,
    lastError: null,
    enqueuedAt: putAt,
    putAt,
  }
}

export function hasBit(bits: number[], index: number): boolean {
  return ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}

export function setBit(bits: number[], index: number, on: boolean): void {
  while (bits.length <= index >> 3) bits.push(0)
  const mask = 1 << (index & 7)
  const byte = bits[index >> 3] as number
  bits[index >> 3] = on ? byte | mask : byte & ~mask
}
