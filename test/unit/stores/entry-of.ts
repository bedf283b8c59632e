// An entry for tests of what stores keep in memory.
import type { Entry } from '../../../src/pool/entry.ts'

export function entryOf(key: string, dueAt: number, given: Partial<Entry> = {}): Entry {
  return {
    key,
    slot: null,
    group: key,
    partition: 0,
    turn: 1,
    lane: 'normal',
    next: { dueAt, tally: 1, payload: null },
    after: null,
    attempt: 0,
    crashes: 0,
    state: 'live',
    failing: false,
    lastError: null,
    enqueuedAt: 0,
    putAt: 0,
    ...given,
  }
}
