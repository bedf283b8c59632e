// Entries by due time: a bucket per millisecond and a heap of the milliseconds. Adding to a bucket and removing
// cost the same whatever waits; a new millisecond costs at most log2 n comparisons of numbers.
import type { Entry } from '../../pool/entry.ts'
import { byDue, isAfter } from '../../pool/order.ts'
import type { EntryCursor } from '../../pool/store.ts'
import { smallest } from './smallest.ts'

/** Entries after the cursor and due before a moment. */
export interface DueRange {
  after: EntryCursor
  before: number
  limit: number
}

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

  /** Entries due in [from, until], in due order. Walks the heap from its top: what is due later costs nothing. */
  *walk(from: number, until: number): Generator<Entry> {
    const frontier: Visit[] = []
    const visit = (index: number): void => {
      const dueAt = this.#heap[index]
      if (dueAt !== undefined && dueAt <= until) insert(frontier, { dueAt, index })
    }
    visit(0)
    let previous = -Infinity
    for (let first = frontier.pop(); first !== undefined; first = frontier.pop()) {
      const { dueAt, index } = first
      visit(2 * index + 1)
      visit(2 * index + 2)
      // A time stands twice in the heap when its bucket was emptied and filled again.
      if (dueAt < from || dueAt === previous) continue
      previous = dueAt
      yield* this.#at(dueAt)
    }
  }

  /**
   * A page in the order of a listing. One pass over the due times finds those that the page
   * needs, and one over each of their buckets the entries: neither sorts more than the page.
   */
  page({ after, before, limit }: DueRange): Entry[] {
    const found: Entry[] = []
    // Every time but the cursor's own has an entry for the page, so one more than its length is enough.
    for (const dueAt of this.#firstTimes(after.dueAt, before, limit + 1)) {
      const all = this.#at(dueAt)
      const wanted = dueAt > after.dueAt ? all : [...all].filter((entry) => isAfter(entry, after))
      found.push(...smallest(wanted, limit - found.length, byDue))
      if (found.length === limit) break
    }
    return found
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

  #firstTimes(from: number, before: number, limit: number): number[] {
    const times = [...this.#buckets.keys()].filter((dueAt) => dueAt >= from && dueAt < before)
    return smallest(times, limit, (a, b) => a - b)
  }

  #at(dueAt: number): Iterable<Entry> {
    const bucket = this.#buckets.get(dueAt)
    if (bucket instanceof Set) return bucket
    return bucket === undefined ? [] : [bucket]
  }

  #sizeAt(dueAt: number): number {
    const bucket = this.#buckets.get(dueAt)
    if (bucket instanceof Set) return bucket.size
    return bucket === undefined ? 0 : 1
  }
}

interface Visit {
  dueAt: number
  index: number
}

/** Keeps the frontier sorted, the earliest last. It holds at most one more visit than buckets were seen. */
function insert(frontier: Visit[], visit: Visit): void {
  let low = 0
  let high = frontier.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((frontier[middle] as Visit).dueAt > visit.dueAt) low = middle + 1
    else high = middle
  }
  frontier.splice(low, 0, visit)
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
