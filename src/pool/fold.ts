// Which puts that arrived in users' own transactions are one put. Pure; the simulated store calls it, and PostgreSQL's
// `fold_puts` is compared with it. Rule [U6] of docs/spec/postgres.md.
import type { Put } from './merge.ts'

/** A put that has arrived. Its time is known: `in` was added to the store's time of the insert. */
export interface Arrived {
  put: Omit<Put, 'inMs'>
  /** The store's time of its insert. */
  madeAt: number
}

export interface FoldedPut {
  /** How many of the arrivals it stands for, from the first on. */
  count: number
  put: Put
}

/**
 * Of the arrivals of one entry, in their order, the first and those that replace it: each was made before the one in front
 * of it was due. The last of them is put. Lane and group are those of the first, as of any put that creates an entry.
 */
export function foldFirst(arrived: readonly [Arrived, ...Arrived[]]): FoldedPut {
  const [first] = arrived
  let folded: FoldedPut = { count: 0, put: first.put }
  let dueAt = Infinity
  for (const { put, madeAt } of arrived) {
    if (folded.count > 0 && (put.onConflict !== 'replace' || dueAt <= madeAt)) break
    const since = folded.put.since ?? (put.longestWaitMs === undefined ? undefined : madeAt)
    const latest = (since ?? Infinity) + (put.longestWaitMs ?? Infinity)
    const at = put.at === null ? null : Math.min(put.at, latest)
    dueAt = Math.max(at ?? madeAt, madeAt)
    const { lane, group } = first.put
    folded = {
      count: folded.count + 1,
      put: { ...put, at, lane, group, ...(since === undefined ? {} : { since }) },
    }
  }
  return folded
}
