// What a pool knows for a while: kept answers and fired slots.

/**
 * Forgets what is past, from the oldest on until one is not: who sets anew deletes first, so that the map is in the
 * order of setting. Looking at all of it would cost every move as much as the pool remembers.
 */
export function dropPast(kept: Map<string, { until: number }>, now: number): void {
  for (const [id, { until }] of kept) {
    if (until > now) return
    kept.delete(id)
  }
}

export function isFired(
  { rememberMs, fired }: { rememberMs: number; fired: ReadonlyMap<string, { until: number }> },
  name: string,
  now: number,
): boolean {
  return rememberMs > 0 && (fired.get(name)?.until ?? 0) > now
}
