// What is raced, and how much: the settings of every team, and the size of a race.
import type { Setting } from './contestant.ts'

/** Judged: the signal of a run is made when its handler reads it. */
export const OURS: Setting = { team: 'Headrace', concurrency: 100, readsSignal: true }
/** Raced beside, in full, and not judged. */
export const OURS_WITHOUT_SIGNAL: Setting = { team: 'Headrace', concurrency: 100, readsSignal: false }

/** While there is work nobody polls. */
const POLL_MS = 10

export const GRAPHILE: Setting[] = [500, 2000, 5000].flatMap((localQueue) =>
  [24, 100, 500].map((concurrency): Setting => {
    return { team: 'graphile-worker', localQueue, concurrency, pollMs: POLL_MS }
  }),
)

export const BOSS: Setting[] = [500, 2000, 5000].map((batch) => ({ team: 'pg-boss', batch }))

/** What a quick run, which judges nothing, races against. */
export const QUICK_GRAPHILE: Setting = {
  team: 'graphile-worker',
  localQueue: 5000,
  concurrency: 500,
  pollMs: POLL_MS,
}
export const QUICK_BOSS: Setting = { team: 'pg-boss', batch: 5000 }

export const PUNCTUAL: Setting[] = [
  OURS,
  { team: 'graphile-worker', localQueue: 2000, concurrency: 100, pollMs: POLL_MS },
  { team: 'BullMQ', concurrency: 24 },
  { team: 'BullMQ', concurrency: 100 },
]

export interface Size {
  warmUp: number
  runs: number
}

/** Of a race that counts. */
export function sizeOf(quick: boolean): Size {
  return quick ? { warmUp: 3000, runs: 12_000 } : { warmUp: 30_000, runs: 150_000 }
}

/** Of the heats, which only find the best settings of a peer. */
export const HEAT: Size = { warmUp: 10_000, runs: 40_000 }

/** How many of a peer's settings go on from the heats: those of graphile-worker come close to each other. */
export const FINALISTS = { graphile: 3, boss: 1 }
