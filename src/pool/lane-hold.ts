// What a worker has of one lane, and how much a take of it may answer. Rule [X7] of docs/spec/work.md.
import { Queue } from '../queue.ts'
import { Cursor } from './cursor.ts'
import type { Lane } from './entry.ts'
import type { Flight } from './run.ts'
import type { Taken } from './store.ts'

/** A lane of one worker. */
export interface LaneHold {
  readonly lane: Lane
  readonly cursor: Cursor
  /** Admitted, and not started yet. */
  readonly waiting: Queue<Flight>
  /** How many of its runs are in flight, those that wait for a handler or behind others included, by their due times. */
  readonly inFlight: Map<number, number>
  /** How many these are. */
  count: number
  /** How many more the next take may meet that cannot be admitted, going by the last. */
  passedOver: number
  /** Its limit cut the last take, or none has read all that is held: more may be due. */
  isCut: boolean
  /** What was let go and not read again: how many, and when the first of them was due. */
  readonly left: { count: number; dueAt: number }
}

export function createLanes(): Readonly<Record<Lane, LaneHold>> {
  const create = (lane: Lane): LaneHold => ({
    lane,
    cursor: new Cursor(),
    waiting: new Queue<Flight>(),
    inFlight: new Map<number, number>(),
    count: 0,
    passedOver: 0,
    isCut: true,
    left: { count: 0, dueAt: Infinity },
  })
  return { fanout: create('fanout'), normal: create('normal'), bulk: create('bulk') }
}

/** A run of it is let go, and due as before. */
export function leave({ cursor, left }: LaneHold, dueAt: number): void {
  cursor.lower(dueAt)
  left.count += 1
  left.dueAt = Math.min(left.dueAt, dueAt)
}

/** A take was answered that read from there; null: its limit has left nothing out. */
export function read(hold: LaneHold, from: number, cutAt: number | null): void {
  hold.isCut = cutAt !== null
  if (from <= hold.left.dueAt) forget(hold)
}

/** Nothing is known of what was let go. */
export function forget({ left }: LaneHold): void {
  left.count = 0
  left.dueAt = Infinity
}

/** There is more to read than before, all of it from the beginning. */
export function widen(hold: LaneHold): void {
  hold.cursor.widen()
  hold.isCut = true
}

/** The most that one take may answer: more than are wanted at once and wait for their settles together. */
export const MOST_TAKEN = 30_000

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
