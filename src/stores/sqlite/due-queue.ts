// The entries of one partition by due time: a bucket per millisecond and a heap of the milliseconds. Adding to a
// bucket and removing cost the same whatever waits; a new millisecond costs at most log4 n comparisons of numbers.
// Times are the caller's: due times counted from an origin of its choice.
import type { Entry } from '../../pool/entry.ts'

/** Four children a place: half the levels of two, and a level's numbers lie side by side. */
export const CHILDREN = 4

/** What was found in several queues, by time. */
export interface Gathered {
  byTime: Map<number, Entry[]>
  count: number
}

/** The times that are wanted, and how many entries are enough. */
export interface TimeSpan {
  from: number
  until: number
  enough: number
}

export class DueQueue {
  /** Null: emptied, but its time still stands in the heap. So a time stands there once. */
  readonly #buckets = new Map<number, Entry | Set<Entry> | null>()
  #heap: number[] = []
  #emptied = 0

  add(time: number, entry: Entry): void {
    const bucket = this.#buckets.get(time)
    if (bucket instanceof Set) {
      bucket.add(entry)
      return
    }
    this.#buckets.set(time, bucket === undefined || bucket === null ? entry : new Set([bucket, entry]))
    if (bucket === undefined) push(this.#heap, time)
    else if (bucket === null) this.#emptied -= 1
  }

  remove(time: number, entry: Entry): void {
    const bucket = this.#buckets.get(time)
    if (bucket instanceof Set) bucket.delete(entry)
    if (bucket !== entry && !(bucket instanceof Set && bucket.size === 0)) return
    this.#buckets.set(time, null)
    this.#emptied += 1
    // Times of emptied buckets are dropped when they reach the top, or here when they are the most.
    if (2 * this.#emptied > this.#buckets.size + 64) this.#dropEmptied()
  }

  /** The first time; null: nothing waits. */
  first(): number | null {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined) return null
      if (this.#buckets.get(first) !== null) return first
      this.#buckets.delete(first)
      this.#emptied -= 1
      pop(this.#heap)
    }
  }

  /** The first time after one; null: nothing waits. Costs as much as there are times up to it, and emptied ones. */
  firstAfter(time: number, place = 0): number | null {
    const at = this.#heap[place]
    if (at === undefined) return null
    if (at > time && this.#buckets.get(at) !== null) return at
    let first: number | null = null
    for (let nth = 1; nth <= CHILDREN; nth++) {
      const found = this.firstAfter(time, CHILDREN * place + nth)
      if (found !== null && (first === null || found < first)) first = found
    }
    return first
  }

  /** A time of the heap: the first at place 0, those behind place p from CHILDREN × p + 1 on. */
  timeAt(place: number): number | undefined {
    return this.#heap[place]
  }

  /** Every time, in no order. */
  *times(): Iterable<number> {
    for (const [time, bucket] of this.#buckets) if (bucket !== null) yield time
  }

  /** Adds the entries of a time to `found`, until that holds `limit`. */
  collect(time: number, found: Entry[], limit: number): void {
    const bucket = this.#buckets.get(time)
    if (bucket === undefined || bucket === null) return
    if (!(bucket instanceof Set)) {
      found.push(bucket)
      return
    }
    for (const entry of bucket) {
      if (found.length >= limit) return
      found.push(entry)
    }
  }

  /** Adds entries to `gathered` until those are enough. What is due later costs nothing. */
  gather(span: TimeSpan, gathered: Gathered, place = 0): void {
    const time = this.#heap[place]
    if (time === undefined || time > span.until || gathered.count >= span.enough) return
    if (time >= span.from) this.#gatherAt(time, gathered, span.enough)
    const first = CHILDREN * place + 1
    for (let child = first; child < first + CHILDREN; child++) this.gather(span, gathered, child)
  }

  /** How many entries are due at or before a time. Costs as much as there are such times, not as wait. */
  countUntil(until: number, place = 0): number {
    const time = this.#heap[place]
    if (time === undefined || time > until) return 0
    let count = this.#sizeAt(time)
    const first = CHILDREN * place + 1
    for (let child = first; child < first + CHILDREN; child++) count += this.countUntil(until, child)
    return count
  }

  #gatherAt(time: number, gathered: Gathered, enough: number): void {
    let found = gathered.byTime.get(time)
    if (found === undefined) gathered.byTime.set(time, (found = []))
    const before = found.length
    this.collect(time, found, before + enough - gathered.count)
    gathered.count += found.length - before
  }

  #sizeAt(time: number): number {
    const bucket = this.#buckets.get(time)
    if (bucket instanceof Set) return bucket.size
    return bucket === undefined || bucket === null ? 0 : 1
  }

  #dropEmptied(): void {
    for (const [time, bucket] of this.#buckets) if (bucket === null) this.#buckets.delete(time)
    // What is sorted is a heap.
    this.#heap = [...this.#buckets.keys()].sort((a, b) => a - b)
    this.#emptied = 0
  }
}

function push(heap: number[], value: number): void {
  let child = heap.push(value) - 1
  while (child > 0) {
    const parent = Math.floor((child - 1) / CHILDREN)
    const above = heap[parent] as number
    if (above <= value) break
    heap[child] = above
    child = parent
  }
  heap[child] = value
}

function pop(heap: number[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let parent = 0
  for (;;) {
    const first = CHILDREN * parent + 1
    if (first >= heap.length) break
    let least = first
    for (let child = first + 1; child < first + CHILDREN && child < heap.length; child++) {
      if ((heap[child] as number) < (heap[least] as number)) least = child
    }
    const below = heap[least] as number
    if (below >= last) break
    heap[parent] = below
    parent = least
  }
  heap[parent] = last
}
