// The order of a listing: by dueAt, then key by UTF-8 bytes, then slot. The same in every store.
import type { Entry } from './entry.ts'
import type { EntryCursor } from './store.ts'

export function byDue(a: Entry, b: Entry): number {
  return a.next.dueAt - b.next.dueAt || compare(cursorOf(a), cursorOf(b))
}

export function isAfter(entry: Entry, cursor: EntryCursor): boolean {
  return compare(cursorOf(entry), cursor) > 0
}

export function cursorOf(entry: Entry): EntryCursor {
  return { dueAt: entry.next.dueAt, key: entry.key, slot: entry.slot }
}

export function compare(a: EntryCursor, b: EntryCursor): number {
  if (a.dueAt !== b.dueAt) return a.dueAt - b.dueAt
  if (a.key !== b.key) return Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
  return (a.slot ?? 0) - (b.slot ?? 0)
}
