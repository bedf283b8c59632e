// Collisions that are of no single run, by pool where that is known; and all collisions of some meters, bucket by bucket.
// Rule [I4] of docs/spec/meter.md.
import { type Clock, toIso } from '../clock.ts'
import { COUNTS, type Count, KEPT, LaneMeter, type Window } from './lane-meter.ts'

/** Of a pool. Those of its lanes: `lost` and `refused`. */
export const POOL_COLLISIONS = ['lost', 'refused', 'fenced', 'control'] as const satisfies readonly Count[]
/** Of a member. */
export const COLLISIONS = [...POOL_COLLISIONS, 'roster', 'repeated'] as const satisfies readonly Count[]
export type Collision = (typeof COLLISIONS)[number]

/** Those of one bucket. */
export type CollisionsView<Kind extends Collision> = Record<Kind, number> & {
  /** When it began. */
  at: string
  perSecond: number
}

export interface CollisionsQuery<Kind extends Collision> {
  kinds: readonly Kind[]
  window: Window
  /** The second that it is now. */
  second: number
  /** Only the latest bucket that is over. */
  latest?: boolean
}

export class Collisions {
  readonly #clock: Clock
  /** From the monotonic clock to the wall's, as it stood at the beginning. */
  readonly #offsetMs: number
  /** Those that are of no pool. */
  readonly #others: LaneMeter
  readonly #pools = new Map<string, LaneMeter>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offsetMs = clock.now() - clock.mono()
    this.#others = new LaneMeter(this.second)
  }

  /** The second that it is now. */
  get second(): number {
    return Math.floor((this.#clock.mono() + this.#offsetMs) / 1000)
  }

  count(kind: Collision, by: number, pool: string | null = null): void {
    const meter = pool === null ? this.#others : this.ofPool(pool)
    meter.turn(this.second)
    const place = COUNTS.indexOf(kind)
    meter.counts[place] = (meter.counts[place] as number) + by
  }

  /** Those of a pool that are of none of its lanes. */
  ofPool(pool: string): LaneMeter {
    let known = this.#pools.get(pool)
    if (known === undefined) this.#pools.set(pool, (known = new LaneMeter(this.second)))
    return known
  }

  /** All of them as they are now; null: of no pool. */
  all(): { pool: string | null; meter: LaneMeter }[] {
    const all = [
      ...[...this.#pools].map(([pool, meter]) => ({ pool, meter })),
      { pool: null, meter: this.#others },
    ]
    for (const { meter } of all) meter.turn(this.second)
    return all
  }
}

/** The buckets of these meters in which something collided, added up. */
export function collisionsView<Kind extends Collision>(
  meters: readonly LaneMeter[],
  { kinds, window, second, latest = false }: CollisionsQuery<Kind>,
): CollisionsView<Kind>[] {
  const { seconds } = KEPT[window]
  const last = Math.floor(second / seconds) - 1
  const sums = new Map<number, number[]>()
  for (const { nth, counts } of meters.flatMap((meter) => meter.buckets(window, second))) {
    const found = kinds.map((kind) => counts[COUNTS.indexOf(kind)] as number)
    if ((latest && nth !== last) || found.every((count) => count === 0)) continue
    const sum = sums.get(nth)
    sums.set(nth, sum === undefined ? found : found.map((count, place) => count + (sum[place] as number)))
  }
  return [...sums]
    .toSorted(([a], [b]) => a - b)
    .map(([nth, counts]) => {
      const byKind = Object.fromEntries(kinds.map((kind, place) => [kind, counts[place]]))
      const perSecond = counts.reduce((sum, count) => sum + count, 0) / seconds
      return { at: toIso(nth * seconds * 1000), ...(byKind as Record<Kind, number>), perSecond }
    })
}
