// The first few of many in an order, without sorting the many.

/** The first `limit` of `items`, sorted. Keeps at most twice as many: what sorts behind those is passed over. */
export function smallest<Item>(
  items: Iterable<Item>,
  limit: number,
  compare: (a: Item, b: Item) => number,
): Item[] {
  const kept: Item[] = []
  let last: Item | undefined
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    kept.push(item)
    if (kept.length < 2 * limit) continue
    kept.sort(compare).length = limit
    last = kept.at(-1)
  }
  return kept.sort(compare).slice(0, limit)
}
