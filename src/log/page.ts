// How much one read answers. Pure; the same in every store.
import type { LogEvent, LogPage } from './store.ts'

/** What an event takes as JSON beside its own texts: names, offset, time. */
const AROUND_BYTES = 120

/** The first of the events: at most `limit` and `maxBytes` of them, but at least one. Takes no more than it must. */
export function fillPage(
  events: Iterable<LogEvent>,
  { limit, maxBytes }: { limit: number; maxBytes: number },
): LogPage {
  const page: LogPage = { events: [], more: false }
  let bytes = 0
  for (const event of events) {
    bytes += bytesOf(event)
    page.more = page.events.length === limit || (page.events.length > 0 && bytes > maxBytes)
    if (page.more) break
    page.events.push(event)
  }
  return page
}

function bytesOf({ id, key, value, headers }: LogEvent): number {
  return AROUND_BYTES + id.length + key.length + Buffer.byteLength(value) + Buffer.byteLength(headers ?? '')
}
