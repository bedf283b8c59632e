// The order of a listing: by dueAt, then key by UTF-8 bytes, then slot. The same in every store.
import type { Entry } from './entry.ts'
import type { EntryCursor, EntryQuery } from './store.ts'

export function byDue(a: Entry, b: Entry): number {
  return a.next.dueAt - b.next.dueAt || compareKeys(a.key, b.key) || (a.slot ?? 0) - (b.slot ?? 0)
}

export function isAfter(entry: Entry, cursor: EntryCursor): boolean {
  return compare(cursorOf(entry), cursor) > 0
}

export function cursorOf(entry: Entry): EntryCursor {
  return { dueAt: entry.next.dueAt, key: entry.key, slot: entry.slot }
}

export function compare(a: EntryCursor, b: EntryCursor): number {
  if (a.dueAt !== b.dueAt) return a.dueAt - b.dueAt
  return compareKeys(a.key, b.key) || (a.slot ?? 0) - (b.slot ?? 0)
}

/** UTF-16 units below the surrogates are in the order of their UTF-8 bytes: only the others need the bytes. */
function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let index = 0
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1
  if (index === length) return a.length - b.length
  const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
  if (left < FIRST_SURROGATE && right < FIRST_SURROGATE) return left - right
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const FIRST_SURROGATE = 0xd800

/** Whether an entry has the key, the beginning of the key and the group that a listing names. [B5] */
export function isNamed(
  entry: Pick<Entry, 'key' | 'group'>,
  { key, prefix, group }: Pick<EntryQuery, 'key' | 'prefix' | 'group'>,
): boolean {
  return (
    (key === undefined || entry.key === key) &&
    (prefix === undefined || entry.key.startsWith(prefix)) &&
    (group === undefined || entry.group === group)
  )
}

const LAST_CODE_POINT = 0x10ffff
const LAST_SURROGATE = 0xdfff

/** The least text, by its bytes, above every text that begins with this one; null: there is none. */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const next = (last.codePointAt(0) ?? 0) + 1
    if (next > LAST_CODE_POINT) continue
    return points.join('') + String.fromCodePoint(next === FIRST_SURROGATE ? LAST_SURROGATE + 1 : next)
  }
  return null
}
