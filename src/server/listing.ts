// A page of a listing as JSON text: how large it may be, and where the next one begins.
import { refuse } from './json.ts'
import { readNumber } from './route.ts'

const PAGE = 100
const LARGEST_PAGE = 1000
/** A page ends early when its items are this large together. */
const LARGEST_PAGE_BYTES = 4 * 1024 * 1024

/** The parameters of a page, described. */
export function pagingOf(what: string): { limit: string; after: string } {
  return { limit: `${what} in one page, 1 to ${LARGEST_PAGE}`, after: '`next` of the page before' }
}

export function readLimit(limit: string | undefined): number {
  return limit === undefined ? PAGE : readNumber(limit, 'limit', { min: 1, max: LARGEST_PAGE })
}

/** The first of the items that fit on a page, as texts: at most `limit`, and at least one if there is any. */
export function fitting<Item>(
  items: readonly Item[],
  { limit, write }: { limit: number; write: (item: Item) => string },
): string[] {
  const texts: string[] = []
  let bytes = 0
  for (const item of items.slice(0, limit)) {
    const text = write(item)
    bytes += Buffer.byteLength(text)
    if (texts.length > 0 && bytes > LARGEST_PAGE_BYTES) break
    texts.push(text)
  }
  return texts
}

export function writeCursor(parts: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

export function cursorUnknown(): Error {
  return refuse('after is not a cursor', 'give `next` of the page before, unchanged')
}
