// The numbers of one lane of a pool: what is recorded now, totals, and what was in the last buckets of 1 s, 10 s and 60 s.
// A second that is over is kept sparse; ten of them make the next larger bucket. Rules [I1] to [I4] of docs/spec/meter.md.
import { Hdr, type Sparse } from './hdr.ts'

/** From due to taken; from the last put to taken; from taken to started; the handler; from its end to the store's answer. */
export const STEPS = ['lateness', 'delay', 'wait', 'run', 'settle'] as const
export type Step = (typeof STEPS)[number]

/** `asked`: the puts that finished runs stood for. `finished`: done, again or dead. From `lost` on: collisions. [I4] */
export const COUNTS = [
  'taken',
  'started',
  'asked',
  'finished',
  'again',
  'retried',
  'dead',
  'cancelled',
  'letGo',
  'settled',
  'lost',
  'refused',
  'fenced',
  'control',
  'roster',
  'repeated',
] as const
export type Count = (typeof COUNTS)[number]

export const WINDOWS = ['1s', '10s', '60s'] as const
export type Window = (typeof WINDOWS)[number]

/** How long a bucket is, and how many of them are kept: two minutes, a quarter of an hour, two hours. */
export const KEPT: Readonly<Record<Window, { seconds: number; buckets: number }>> = {
  '1s': { seconds: 1, buckets: 120 },
  '10s': { seconds: 10, buckets: 90 },
  '60s': { seconds: 60, buckets: 120 },
}

/** What happened in one stretch of time. */
export interface Bucket {
  /** Its number: when it began, divided by its length. */
  readonly nth: number
  readonly counts: Float64Array
  readonly steps: readonly (Sparse | null)[]
}

export class LaneMeter {
  /** Its type is named: TypeScript before 5.7 cannot read the one that is inferred. */
  readonly counts: Float64Array = new Float64Array(COUNTS.length)
  readonly steps: readonly Hdr[] = STEPS.map(() => new Hdr())
  readonly #totalCounts = new Float64Array(COUNTS.length)
  readonly #totals: readonly Hdr[] = STEPS.map(() => new Hdr())
  readonly #kept: Record<Window, Bucket[]> = { '1s': [], '10s': [], '60s': [] }
  #second: number

  constructor(second: number) {
    this.#second = second
  }

  /** It is this second now: those before are over. */
  turn(second: number): void {
    if (second <= this.#second) return
    const last = this.#second
    this.#second = second
    this.#close(last)
    if (tens(second) !== tens(last)) this.#join('1s', '10s', tens(last))
    if (minutes(second) !== minutes(last)) this.#join('10s', '60s', minutes(last))
  }

  /** The buckets of a window that are over and were not empty, from the oldest that is kept; `second` is now. */
  buckets(window: Window, second: number): readonly Bucket[] {
    const { seconds, buckets } = KEPT[window]
    const now = Math.floor(second / seconds)
    return this.#kept[window].filter(({ nth }) => nth >= now - buckets && nth < now)
  }

  /** Everything so far. */
  total(count: Count): number {
    const place = COUNTS.indexOf(count)
    return (this.#totalCounts[place] as number) + (this.counts[place] as number)
  }

  totalOf(step: Step): Hdr {
    const place = STEPS.indexOf(step)
    const all = new Hdr()
    all.addAll(this.#totals[place] as Hdr)
    all.addAll(this.steps[place] as Hdr)
    return all
  }

  #close(second: number): void {
    if (this.counts.every((count) => count === 0) && this.steps.every(({ count }) => count === 0)) return
    this.#keep('1s', {
      nth: second,
      counts: this.counts.slice(),
      steps: this.steps.map((step) => step.sparse()),
    })
    for (const [place, count] of this.counts.entries()) {
      this.#totalCounts[place] = (this.#totalCounts[place] as number) + count
    }
    this.counts.fill(0)
    for (const [place, step] of this.steps.entries()) {
      this.#totals[place]?.addAll(step)
      step.clear()
    }
  }

  /** Makes the larger bucket `nth` of the smaller ones within it. */
  #join(from: Window, to: Window, nth: number): void {
    const ratio = KEPT[to].seconds / KEPT[from].seconds
    const parts = this.#kept[from].filter((bucket) => Math.floor(bucket.nth / ratio) === nth)
    if (parts.length > 0) this.#keep(to, joined(nth, parts))
  }

  #keep(window: Window, bucket: Bucket): void {
    const kept = this.#kept[window]
    kept.push(bucket)
    const oldest = bucket.nth - KEPT[window].buckets
    while ((kept[0]?.nth ?? bucket.nth) < oldest) kept.shift()
  }
}

/** One bucket of several. */
export function joined(nth: number, parts: readonly Bucket[]): Bucket {
  const counts = new Float64Array(COUNTS.length)
  for (const part of parts) {
    for (const [place, count] of part.counts.entries()) counts[place] = (counts[place] as number) + count
  }
  return { nth, counts, steps: STEPS.map((_, place) => stepOf(parts, place)) }
}

function stepOf(parts: readonly Bucket[], place: number): Sparse | null {
  const all = new Hdr()
  for (const { steps } of parts) {
    const step = steps[place] ?? null
    if (step !== null) all.add(step)
  }
  return all.sparse()
}

function tens(second: number): number {
  return Math.floor(second / 10)
}

function minutes(second: number): number {
  return Math.floor(second / 60)
}
