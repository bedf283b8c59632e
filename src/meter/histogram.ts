// A histogram with fixed bounds: constant memory, mergeable, and exactly what Prometheus wants.

/** Upper bounds in milliseconds, about 2.5 apart, from 1 ms to 10 minutes. */
export const BOUNDS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000, 600_000,
] as const

export class Histogram {
  /** How many values fell into each bound; the last one counts what is beyond. */
  readonly counts: number[] = new Array<number>(BOUNDS_MS.length + 1).fill(0)
  count = 0
  sum = 0
  max = 0

  record(ms: number): void {
    let bucket = 0
    while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] as number)) bucket += 1
    this.counts[bucket] = (this.counts[bucket] as number) + 1
    this.count += 1
    this.sum += ms
    if (ms > this.max) this.max = ms
  }

  /** An upper bound of the quantile: the bound of the bucket it falls into, or the greatest value seen. */
  quantile(q: number): number {
    const wanted = Math.ceil(this.count * q)
    let seen = 0
    for (const [bucket, count] of this.counts.entries()) {
      seen += count
      if (seen >= wanted && count > 0) return Math.min(BOUNDS_MS[bucket] ?? Infinity, this.max)
    }
    return 0
  }
}
