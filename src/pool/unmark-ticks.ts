// A pool that was once of ticks, and is worked on now: it may be limited again. Rule [T6] of docs/spec/pool.md.
import type { ControlStore } from './store.ts'

/** Others may write at the same time; whoever comes after so many finds it marked, and it is worked on all the same. */
const MOST_TRIES = 5

export async function unmarkTicks(store: ControlStore, pool: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { version, control } = await store.read(pool)
    const { isTicks, ...unmarked } = control
    if (isTicks !== true || (await store.write(pool, version, unmarked)) !== null) return
  }
}
