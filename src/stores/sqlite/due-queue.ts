// The entries of one partition by due time: a bucket per millisecond and a heap of the milliseconds. Adding to a
// bucket and removing cost the same whatever waits; a new millisecond costs at most log2 n comparisons of numbers.
import type { Entry } from '../../pool/entry.ts'

export class DueQueue {
  readonly #buckets = new Map<number, Entry | Set<Entry>>()
  /** A binary heap of due times; may hold times whose bucket is gone. */
  #heap: number[] = []

  add(entry: Entry): void {
    const { dueAt } = entry.next
    const bucket = this.#buckets.get(dueAt)
    if (bucket === undefined) {
      this.#buckets.set(dueAt, entry)
      push(this.#heap, dueAt)
    } else if (bucket instanceof Set) bucket.add(entry)
    else this.#buckets.set(dueAt, new Set([bucket, entry]))
  }

  remove(entry: Entry): void {
    const { dueAt } = entry.next
    const bucket = this.#buckets.get(dueAt)
    if (bucket instanceof Set) bucket.delete(entry)
    if (bucket === entry || (bucket instanceof Set && bucket.size === 0)) this.#buckets.delete(dueAt)
    // Times of removed buckets are dropped when they reach the top, or here when they are the most.
    if (this.#heap.length > 2 * this.#buckets.size + 64)
      this.#heap = [...this.#buckets.keys()].sort((a, b) => a - b)
  }

  /** The first due time; null: nothing waits. */
  nextDueAt(): number | null {
    while (this.#heap.length > 0 && !this.#buckets.has(this.#heap[0] as number)) pop(this.#heap)
    return this.#heap[0] ?? null
  }

  /** A due time of the heap, the first at place 0, those behind it at 2 p + 1 and 2 p + 2; its bucket may be gone. */
  timeAt(place: number): number | undefined {
    return this.#heap[place]
  }

  /** Every due time, in no order. */
  times(): Iterable<number> {
    return this.#buckets.keys()
  }

  /** Adds the entries that are due at a moment to `found`, until that holds `limit`. */
  collect(dueAt: number, found: Entry[], limit: number): void {
    const bucket = this.#buckets.get(dueAt)
    if (bucket === undefined) return
    if (!(bucket instanceof Set)) {
      found.push(bucket)
      return
    }
    for (const entry of bucket) {
      if (found.length >= limit) return
      found.push(entry)
    }
  }

  /** How many entries are due at or before a moment. Costs as much as there are such times, not as wait. */
  countUntil(until: number): number {
    const times = new Set<number>()
    const open = [0]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const dueAt = this.#heap[index]
      if (dueAt === undefined || dueAt > until) continue
      times.add(dueAt)
      open.push(2 * index + 1, 2 * index + 2)
    }
    let count = 0
    for (const dueAt of times) count += this.#sizeAt(dueAt)
    return count
  }

  #sizeAt(dueAt: number): number {
    const bucket = this.#buckets.get(dueAt)
    if (bucket instanceof Set) return bucket.size
    return bucket === undefined ? 0 : 1
  }
}

function push(heap: number[], value: number): void {
  let child = heap.push(value) - 1
  while (child > 0) {
    const parent = (child - 1) >> 1
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
    let child = 2 * parent + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child += 1
    const below = heap[child] as number
    if (below >= last) break
    heap[parent] = below
    parent = child
  }
  heap[parent] = last
}
