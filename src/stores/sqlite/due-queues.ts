// The young entries of a pool by partition and due time. What is due in some partitions costs nothing of what is due
// in the others: a process may hold few of many.
import type { Entry } from '../../pool/entry.ts'
import { byDue, isAfter } from '../../pool/order.ts'
import type { EntryCursor } from '../../pool/store.ts'
import { CHILDREN, DueQueue, type Gathered, type TimeSpan } from './due-queue.ts'
import { DueHeap } from './due-heap.ts'
import { smallest } from './smallest.ts'

/** Entries after the cursor and due before a moment. */
export interface DueRange {
  after: EntryCursor
  before: number
  limit: number
}

/** Entries of some partitions, none of which stands twice, that are due in [from, until]. */
export interface DueSpan {
  partitions: readonly number[]
  from: number
  until: number
  limit: number
}

export class DueQueues {
  /** By partition; a partition that never had an entry has none. */
  readonly #queues: (DueQueue | undefined)[] = []
  /** The first due time that was added. Counted from it times are small, and a map finds those in half the time. */
  #origin = 0

  add(entry: Entry): void {
    if (this.#queues.length === 0) this.#origin = entry.next.dueAt
    let queue = this.#queues[entry.partition]
    if (queue === undefined) this.#queues[entry.partition] = queue = new DueQueue()
    queue.add(entry.next.dueAt - this.#origin, entry)
  }

  remove(entry: Entry): void {
    this.#queues[entry.partition]?.remove(entry.next.dueAt - this.#origin, entry)
  }

  /** The first due time in some partitions; null: nothing waits there. */
  nextDueAt(partitions: readonly number[]): number | null {
    let first: number | null = null
    for (const partition of partitions) {
      const time = this.#queues[partition]?.first() ?? null
      if (time !== null && (first === null || time < first)) first = time
    }
    return first === null ? null : first + this.#origin
  }

  /** The first due time after a moment, in some partitions; null: nothing waits there. */
  dueAfter(partitions: readonly number[], now: number): number | null {
    let first: number | null = null
    for (const partition of partitions) {
      const time = this.#queues[partition]?.firstAfter(now - this.#origin) ?? null
      if (time !== null && (first === null || time < first)) first = time
    }
    return first === null ? null : first + this.#origin
  }

  /**
   * Entries in due order. What is due later costs nothing, and no more is sorted than is answered: the times of what
   * is due where that is all, which are few.
   */
  due({ partitions, from, until, limit }: DueSpan): Entry[] {
    const span = { from: from - this.#origin, until: until - this.#origin, enough: limit + 1 }
    const gathered: Gathered = { byTime: new Map(), count: 0 }
    for (const partition of partitions) this.#queues[partition]?.gather(span, gathered)
    if (gathered.count > limit) return this.#first(partitions, span, limit)
    const found: Entry[] = []
    for (const time of [...gathered.byTime.keys()].sort(ascending)) {
      for (const entry of gathered.byTime.get(time) ?? []) found.push(entry)
    }
    return found
  }

  /** Where more is due than is wanted: walks every heap from its top, the earliest of all first. */
  #first(partitions: readonly number[], { from, until }: TimeSpan, limit: number): Entry[] {
    const found: Entry[] = []
    const heap = new DueHeap()
    const visit = (partition: number, place: number): void => {
      const time = this.#queues[partition]?.timeAt(place)
      if (time !== undefined && time <= until) heap.push(time, partition, place)
    }
    for (const partition of partitions) visit(partition, 0)
    while (!heap.isEmpty && found.length < limit) {
      const { dueAt: time, source, place } = heap
      heap.pop()
      for (let nth = 1; nth <= CHILDREN; nth++) visit(source, CHILDREN * place + nth)
      if (time >= from) this.#queues[source]?.collect(time, found, limit)
    }
    return found
  }

  /**
   * A page in the order of a listing, of every partition. One pass over the due times finds those that the page
   * needs, and one over each of their buckets the entries: neither sorts more than the page.
   */
  page({ after, before, limit }: DueRange): Entry[] {
    const found: Entry[] = []
    const start = after.dueAt - this.#origin
    // In each partition every time but the cursor's own has an entry for the page, so one more for each is enough.
    const enough = limit + this.#queues.length
    const times = smallest(this.#times(start, before - this.#origin), enough, ascending)
    for (const time of new Set(times)) {
      const all = this.#at(time)
      const wanted = time > start ? all : all.filter((entry) => isAfter(entry, after))
      found.push(...smallest(wanted, limit - found.length, byDue))
      if (found.length === limit) break
    }
    return found
  }

  /** How many entries are due at or before a moment. Costs as much as there are such times, not as wait. */
  countUntil(until: number): number {
    const time = until - this.#origin
    return this.#queues.reduce((count, queue) => count + (queue?.countUntil(time) ?? 0), 0)
  }

  *#times(from: number, before: number): Iterable<number> {
    for (const queue of this.#queues) {
      if (queue === undefined) continue
      for (const time of queue.times()) if (time >= from && time < before) yield time
    }
  }

  #at(time: number): Entry[] {
    const found: Entry[] = []
    for (const queue of this.#queues) queue?.collect(time, found, Infinity)
    return found
  }
}

function ascending(a: number, b: number): number {
  return a - b
}
