// What a worker has of one lane, and how much a take of it may answer. Rule [X7] of docs/spec/work.md.
import type { Cursor } from './cursor.ts'
import type { Lane } from './entry.ts'
import type { Flight } from './run.ts'
import type { Taken } from './store.ts'

/** A lane of one worker. */
export interface LaneHold {
  readonly lane: Lane
  readonly cursor: Cursor
  /** Admitted, and not started yet. */
  waiting: Flight[]
  /** How many of its runs are in flight, those that wait for a handler or behind others included, by their due times. */
  readonly inFlight: Map<number, number>
  /** How many more the next take may meet that cannot be admitted, going by the last. */
  passedOver: number
  /** Its limit cut the last take: more may be due. */
  isCut: boolean
}

/** The most that one take may answer. */
export const MOST_TAKEN = 20_000

/** From when on the limit of a take has left out what is due; null: it has answered all. [D5] */
export function cutOf({ runs, cutAt }: Taken, limit: number): number | null {
  if (cutAt !== undefined) return cutAt
  return runs.length >= limit ? runs.reduce((last, { dueAt }) => Math.max(last, dueAt), -Infinity) : null
}

/** The limit of a take that reads from there and wants so many: what cannot be admitted must not hide others. [X7] */
export function limitOf({ inFlight, passedOver }: LaneHold, from: number, wanted: number): number {
  let count = wanted + passedOver
  for (const [dueAt, runs] of inFlight) if (dueAt >= from) count += runs
  return Math.min(count, MOST_TAKEN)
}
