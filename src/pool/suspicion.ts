// Which runs are suspects after a take-over: in each lane of each partition the first that start. Pure.
// Rules [X44] to [X46] of docs/spec/work.md.
import type { Held } from '../fence.ts'
import { LANES, type Lane, type TakenRun } from './entry.ts'

/** With so many crashes a run is alone. */
const ALONE = 2
/** With so many it is dead. */
const MOST = 3

/** A partition that was taken over. */
export interface TakenOver extends Held {
  /** How many runs the owner before may have had under way. */
  suspects: number
}

interface Watched {
  epoch: number
  /** The epoch since which it has been this member's without a break. */
  since: number
  /** How many more of each lane are suspects. */
  left: Map<Lane, number>
}

/** The most marks that are remembered; of older ones some may be written once too often. */
const REMEMBERED = 10_000

/** What is to be done with a run before it starts; `marks` is the number to write, null: none. */
export type Treatment =
  | { kind: 'start' }
  | { kind: 'mark'; marks: number }
  | { kind: 'alone'; marks: number | null }
  | { kind: 'dead' }

const START: Treatment = { kind: 'start' }

export class Suspicion {
  readonly #watched = new Map<number, Watched>()
  /** What this process has marked, the oldest first: what was let go, and starts again, has not crashed it. */
  readonly #marks = new Map<string, number>()
  #left = 0

  /**
   * Follows what is held, or is to be held again: a partition that stays under another epoch keeps the suspects that are
   * left of it.
   */
  follow(held: readonly TakenOver[], allotted: readonly number[] = []): void {
    const partitions = new Set([...held.map(({ partition }) => partition), ...allotted])
    for (const partition of this.#watched.keys())
      if (!partitions.has(partition)) this.#watched.delete(partition)
    for (const { partition, epoch, suspects } of held) {
      const before = this.#watched.get(partition)
      if (before?.epoch === epoch) continue
      const count = (lane: Lane): number => Math.max(2 * suspects, before?.left.get(lane) ?? 0)
      const left = new Map(LANES.map((lane) => [lane, count(lane)]))
      this.#watched.set(partition, { epoch, since: before?.since ?? epoch, left })
    }
    this.#left = 0
    for (const { left } of this.#watched.values()) for (const count of left.values()) this.#left += count
  }

  /** Looks at a run that is about to start. Where nobody is a suspect this costs two comparisons. */
  look(run: Pick<TakenRun, 'partition' | 'turn' | 'crashes'>, lane: Lane): Treatment {
    const { crashes } = run
    if (this.#left === 0 && crashes < ALONE) return START
    const isKnown = this.#marks.get(nameOf(run)) === crashes
    const marks = !isKnown && this.#leftOf(run.partition, lane) > 0 ? crashes + 1 : null
    const count = marks ?? crashes
    if (count >= MOST) return { kind: 'dead' }
    if (marks !== null) this.#charge(run.partition, lane, -1)
    if (count >= ALONE) return { kind: 'alone', marks }
    return marks === null ? START : { kind: 'mark', marks }
  }

  /** A run that was to be marked has not started: another may be the first in its place. */
  unstarted({ partition, epoch }: Held, lane: Lane): void {
    const since = this.#watched.get(partition)?.since ?? Infinity
    if (epoch >= since) this.#charge(partition, lane, 1)
  }

  /** A run was marked with this number. */
  marked(run: Pick<TakenRun, 'partition' | 'turn'>, crashes: number): void {
    this.#marks.set(nameOf(run), crashes)
    if (this.#marks.size <= REMEMBERED) return
    for (const oldest of this.#marks.keys()) {
      this.#marks.delete(oldest)
      return
    }
  }

  #leftOf(partition: number, lane: Lane): number {
    return this.#watched.get(partition)?.left.get(lane) ?? 0
  }

  #charge(partition: number, lane: Lane, by: 1 | -1): void {
    this.#watched.get(partition)?.left.set(lane, this.#leftOf(partition, lane) + by)
    this.#left += by
  }
}

/** A turn is unique in its partition. */
function nameOf({ partition, turn }: Pick<TakenRun, 'partition' | 'turn'>): string {
  return `${partition}/${turn}`
}
