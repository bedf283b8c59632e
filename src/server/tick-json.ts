// Ticks as JSON text, one or a page. Payloads are kept as JSON text and are embedded as they are, never parsed.
import { checkKey, checkMoment } from '../check.ts'
import { toIso } from '../clock.ts'
import { type Entry, stateOf } from '../pool/entry.ts'
import { cursorOf } from '../pool/order.ts'
import type { EntryCursor } from '../pool/store.ts'
import { parseJson, refuse } from './json.ts'

/** A page ends early when its ticks are this large together. */
const LARGEST_PAGE_BYTES = 4 * 1024 * 1024

export function writeTick(entry: Entry, now: number): string {
  const { key, slot, next, partition, putAt } = entry
  const times = `"at":"${toIso(slot ?? next.dueAt)}","dueAt":"${toIso(next.dueAt)}"`
  const payload = next.payload === null ? '' : `"payload":${next.payload},`
  const rest = `"tally":${next.tally},"partition":${partition},"putAt":"${toIso(putAt)}"`
  return `{"item":${JSON.stringify(key)},${times},"state":"${stateOf(entry, now)}",${payload}${rest}}`
}

/** The first of the entries: at most `limit`, and at least one if there is any; `next` leads to the others. */
export function writePage(entries: readonly Entry[], { now, limit }: { now: number; limit: number }): string {
  const items: string[] = []
  let bytes = 0
  for (const entry of entries.slice(0, limit)) {
    const item = writeTick(entry, now)
    bytes += Buffer.byteLength(item)
    if (items.length > 0 && bytes > LARGEST_PAGE_BYTES) break
    items.push(item)
  }
  const last = items.length < entries.length ? entries[items.length - 1] : undefined
  const next = last === undefined ? 'null' : `"${writeCursor(cursorOf(last))}"`
  return `{"items":[${items.join(',')}],"next":${next}}`
}

function writeCursor({ dueAt, key, slot }: EntryCursor): string {
  return Buffer.from(JSON.stringify([dueAt, key, slot])).toString('base64url')
}

export function readCursor(text: string): EntryCursor {
  try {
    const [dueAt, key, slot] = parseJson(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    const cursor = {
      dueAt: checkMoment(dueAt),
      key: checkKey(key),
      slot: slot === null ? null : checkMoment(slot),
    }
    return cursor
  } catch {
    throw refuse('after is not a cursor', 'give `next` of the page before, unchanged')
  }
}
