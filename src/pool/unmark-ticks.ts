// A pool that was once of ticks, and is worked on now: it may be limited again. Rule [T6] of docs/spec/pool.md.
import type { Controlled, ControlStore } from './store.ts'

/** Answers what steers the pool then; null: another wrote before. */
export async function unmarkTicks(
  store: ControlStore,
  pool: string,
  found: Controlled,
): Promise<Controlled | null> {
  const { isTicks, ...control } = found.control
  if (isTicks !== true) return found
  const version = await store.write(pool, found.version, control)
  return version === null ? null : { ...found, version, control }
}
