// Ticks as JSON text, one or a page. Payloads are kept as JSON text and are embedded as they are, never parsed.
import { checkInstant, checkKey } from '../check.ts'
import { toIso } from '../clock.ts'
import { type Entry, stateOf } from '../pool/entry.ts'
import { cursorOf } from '../pool/order.ts'
import type { EntryCursor } from '../pool/store.ts'
import { parseJson } from './json.ts'
import { cursorUnknown, fitting, writeCursor as writeParts } from './listing.ts'

export function writeTick(entry: Entry, now: number): string {
  const { key, slot, next, partition, putAt } = entry
  const times = `"at":"${toIso(slot ?? next.dueAt)}","dueAt":"${toIso(next.dueAt)}"`
  const payload = next.payload === null ? '' : `"payload":${next.payload},`
  const rest = `"tally":${next.tally},"partition":${partition},"putAt":"${toIso(putAt)}"`
  return `{"item":${JSON.stringify(key)},${times},"state":"${stateOf(entry, now)}",${payload}${rest}}`
}

export interface PageRules {
  now: number
  limit: number
  /** As ticks unless said. */
  write?: (entry: Entry, now: number) => string
}

/** The first of the entries: at most `limit`, and at least one if there is any; `next` leads to the others. */
export function writePage(
  entries: readonly Entry[],
  { now, limit, write: writeEntry = writeTick }: PageRules,
): string {
  const items = fitting(entries, { limit, write: (entry) => writeEntry(entry, now) })
  const last = items.length < entries.length ? entries[items.length - 1] : undefined
  const next = last === undefined ? 'null' : `"${writeCursor(cursorOf(last))}"`
  return `{"items":[${items.join(',')}],"next":${next}}`
}

function writeCursor({ dueAt, key, slot }: EntryCursor): string {
  return writeParts([dueAt, key, slot])
}

export function readCursor(text: string): EntryCursor {
  try {
    const [dueAt, key, slot] = parseJson(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    const cursor = {
      dueAt: checkInstant(dueAt),
      key: checkKey(key),
      slot: slot === null ? null : checkInstant(slot),
    }
    return cursor
  } catch {
    throw cursorUnknown()
  }
}
