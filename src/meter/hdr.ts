// A log-linear (HDR) histogram of durations: 32 buckets for every power of two of microseconds, so a quantile is off by at
// most 1/32 (3.2 %), from a microsecond to decades. Recording allocates nothing. Rules [I2] and [I3] of docs/spec/meter.md.

const PER_POWER = 32
/** Below, every microsecond has a bucket of its own. */
const EXACT = 2 * PER_POWER
const FAR = 2 ** 31
/** Whole numbers beyond 31 bits are looked up without their last 20 bits. */
const FAR_SHIFT = 20
const FARTHEST = 2 ** 51 - 1
export const BUCKETS = EXACT + PER_POWER * 45

/** Until the first value comes: most lanes of most pools stay empty. */
const EMPTY = new Uint32Array(0)

/** What was recorded in some stretch of time, small enough to keep many: indexes and counts of buckets that hold something. */
export interface Sparse {
  readonly count: number
  readonly sumMs: number
  readonly maxMs: number
  readonly indexes: Uint16Array
  readonly counts: Uint32Array
}

export class Hdr {
  #counts = EMPTY
  #count = 0
  #sumMs = 0
  #maxMs = 0
  /** The buckets that may hold something: from the first up to, not with, the last. */
  #first = BUCKETS
  #last = 0

  get count(): number {
    return this.#count
  }

  get sumMs(): number {
    return this.#sumMs
  }

  get maxMs(): number {
    return this.#maxMs
  }

  /** Counts a duration; one below zero, of clocks that disagree, as zero. */
  record(ms: number): void {
    const known = ms > 0 ? ms : 0
    const bucket = bucketOf(known * 1000)
    if (this.#counts === EMPTY) this.#counts = new Uint32Array(BUCKETS)
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#count += 1
    this.#sumMs += known
    if (known > this.#maxMs) this.#maxMs = known
    if (bucket < this.#first) this.#first = bucket
    if (bucket >= this.#last) this.#last = bucket + 1
  }

  /** What a share `q` of all does not exceed, rounded up within its bucket; null: nothing was recorded. */
  quantile(q: number): number | null {
    const wanted = Math.max(1, Math.ceil(this.#count * q))
    let seen = 0
    for (let bucket = this.#first; bucket < this.#last; bucket += 1) {
      seen += this.#counts[bucket] as number
      if (seen >= wanted) return Math.min(endOf(bucket) / 1000, this.#maxMs)
    }
    return null
  }

  /** How many are in buckets that end at or below this. */
  countUpTo(ms: number): number {
    let seen = 0
    for (let bucket = this.#first; bucket < this.#last && endOf(bucket) <= ms * 1000; bucket += 1) {
      seen += this.#counts[bucket] as number
    }
    return seen
  }

  add(other: Sparse): void {
    for (const [nth, bucket] of other.indexes.entries()) this.#addTo(bucket, other.counts[nth] as number)
    this.#addSums(other)
  }

  addAll(other: Hdr): void {
    for (let bucket = other.#first; bucket < other.#last; bucket += 1) {
      const count = other.#counts[bucket] as number
      if (count > 0) this.#addTo(bucket, count)
    }
    this.#addSums(other)
  }

  /** What it holds; null: nothing. */
  sparse(): Sparse | null {
    if (this.#count === 0) return null
    const indexes: number[] = []
    for (let bucket = this.#first; bucket < this.#last; bucket += 1) {
      if (this.#counts[bucket] !== 0) indexes.push(bucket)
    }
    return {
      count: this.#count,
      sumMs: this.#sumMs,
      maxMs: this.#maxMs,
      indexes: Uint16Array.from(indexes),
      counts: Uint32Array.from(indexes, (bucket) => this.#counts[bucket] as number),
    }
  }

  clear(): void {
    if (this.#count === 0) return
    this.#counts.fill(0, this.#first, this.#last)
    this.#count = 0
    this.#sumMs = 0
    this.#maxMs = 0
    this.#first = BUCKETS
    this.#last = 0
  }

  #addTo(bucket: number, count: number): void {
    if (this.#counts === EMPTY) this.#counts = new Uint32Array(BUCKETS)
    this.#counts[bucket] = (this.#counts[bucket] as number) + count
    if (bucket < this.#first) this.#first = bucket
    if (bucket >= this.#last) this.#last = bucket + 1
  }

  #addSums({ count, sumMs, maxMs }: Pick<Sparse, 'count' | 'sumMs' | 'maxMs'>): void {
    this.#count += count
    this.#sumMs += sumMs
    if (maxMs > this.#maxMs) this.#maxMs = maxMs
  }
}

function bucketOf(us: number): number {
  if (us < FAR) return bucketOfWhole(us | 0)
  const far = Math.min(us, FARTHEST)
  return bucketOfWhole(Math.floor(far / 2 ** FAR_SHIFT)) + FAR_SHIFT * PER_POWER
}

function bucketOfWhole(whole: number): number {
  if (whole < EXACT) return whole
  const shift = 26 - Math.clz32(whole)
  return EXACT + (shift - 1) * PER_POWER + (whole >>> shift) - PER_POWER
}

/** Where a bucket ends, in microseconds: what it holds is below. */
function endOf(bucket: number): number {
  if (bucket < EXACT) return bucket + 1
  const shift = Math.floor((bucket - EXACT) / PER_POWER) + 1
  const step = ((bucket - EXACT) % PER_POWER) + PER_POWER
  return (step + 1) * 2 ** shift
}
