// A histogram of whole numbers: exact below 128, then 64 buckets for every power of two, so a quantile is off
// by at most 1/64 (1.6 %). The meter's histogram has fifteen bounds, which is too coarse to tell 12 ms from 24.

const EXACT = 128
const PER_POWER = 64
const GREATEST = 2 ** 31 - 1
const BUCKETS = EXACT + PER_POWER * 24

export class FineHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #count = 0
  #max = 0

  get count(): number {
    return this.#count
  }

  get max(): number {
    return this.#max
  }

  /** Counts a value, rounded to a whole number from 0 to 2^31 - 1. */
  record(value: number): void {
    const whole = Math.min(Math.max(Math.round(value), 0), GREATEST)
    const bucket = bucketOf(whole)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#count += 1
    if (whole > this.#max) this.#max = whole
  }

  /** The value that a share `q` of all values does not exceed, rounded up within its bucket; null when empty. */
  quantile(q: number): number | null {
    const wanted = Math.max(1, Math.ceil(this.#count * q))
    let seen = 0
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count
      if (seen >= wanted) return Math.min(greatestIn(bucket), this.#max)
    }
    return null
  }

  clear(): void {
    this.#counts.fill(0)
    this.#count = 0
    this.#max = 0
  }
}

function bucketOf(whole: number): number {
  if (whole < EXACT) return whole
  const shift = 25 - Math.clz32(whole)
  return EXACT + (shift - 1) * PER_POWER + (whole >>> shift) - PER_POWER
}

function greatestIn(bucket: number): number {
  if (bucket < EXACT) return bucket
  const shift = Math.floor((bucket - EXACT) / PER_POWER) + 1
  const step = ((bucket - EXACT) % PER_POWER) + PER_POWER
  return (step + 1) * 2 ** shift - 1
}
