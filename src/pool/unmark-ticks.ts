// A pool that was once of ticks, and is worked on now: it may be limited again. Rule [T6] of docs/spec/pool.md.
import { changeControl } from './change-control.ts'
import type { ControlStore } from './store.ts'

/** Others may write at the same time; whoever comes after so many finds it marked, and it is worked on all the same. */
const MOST_TRIES = 5

export async function unmarkTicks(store: ControlStore, pool: string): Promise<void> {
  await changeControl(store, {
    pool,
    mostTries: MOST_TRIES,
    decide: ({ control: { isTicks, ...unmarked } }) => {
      return { control: isTicks === true ? unmarked : null, answer: null }
    },
  })
}
