// What a contract suite is: cases as data, each run against a store that was opened for it alone.
import { describe, test } from 'node:test'
import type { Store } from '../store.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface Subject {
  store: Store
  /** The clock that the store was handed. */
  clock: VirtualClock
}

export interface Case {
  /** A sentence that begins with the rule it proves. */
  title: string
  run(subject: Subject): Promise<void>
}

/** Opens an empty store; `close` also removes whatever it left behind. */
export type OpenSubject = (clock: VirtualClock) => Promise<{ store: Store; close(): Promise<void> }>

/** Registers a suite of cases with node:test. */
export function registerCases(suite: string, open: OpenSubject, cases: readonly Case[]): void {
  void describe(suite, () => {
    for (const { title, run } of cases) {
      void test(title, async () => {
        const clock = new VirtualClock()
        const { store, close } = await open(clock)
        try {
          await run({ store, clock })
        } finally {
          await close()
        }
      })
    }
  })
}
