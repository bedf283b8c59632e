// The young entries of a pool by partition and due time. What is due in some partitions costs nothing of what is due
// in the others: a process may hold few of many.
import type { Entry } from '../../pool/entry.ts'
import { byDue, isAfter } from '../../pool/order.ts'
import type { EntryCursor } from '../../pool/store.ts'
import { DueQueue } from './due-queue.ts'
import { Frontier } from './frontier.ts'
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

  add(entry: Entry): void {
    let queue = this.#queues[entry.partition]
    if (queue === undefined) this.#queues[entry.partition] = queue = new DueQueue()
    queue.add(entry)
  }

  remove(entry: Entry): void {
    this.#queues[entry.partition]?.remove(entry)
  }

  /** The first due time in some partitions; null: nothing waits there. */
  nextDueAt(partitions: readonly number[]): number | null {
    let first: number | null = null
    for (const partition of partitions) {
      const dueAt = this.#queues[partition]?.nextDueAt() ?? null
      if (dueAt !== null && (first === null || dueAt < first)) first = dueAt
    }
    return first
  }

  /** Entries in due order. Walks each heap from its top: what is due later costs nothing. */
  due({ partitions, from, until, limit }: DueSpan): Entry[] {
    const found: Entry[] = []
    const queues: DueQueue[] = []
    const frontier = new Frontier()
    const visit = (source: number, place: number): void => {
      const dueAt = queues[source]?.timeAt(place)
      if (dueAt !== undefined && dueAt <= until) frontier.push(dueAt, source, place)
    }
    for (const partition of partitions) {
      const queue = this.#queues[partition]
      if (queue !== undefined) visit(queues.push(queue) - 1, 0)
    }
    const previous = queues.map(() => -Infinity)
    while (!frontier.isEmpty && found.length < limit) {
      const { dueAt, source, place } = frontier
      frontier.pop()
      visit(source, 2 * place + 1)
      visit(source, 2 * place + 2)
      // A time stands twice in a heap when its bucket was emptied and filled again.
      if (dueAt < from || dueAt === previous[source]) continue
      previous[source] = dueAt
      queues[source]?.collect(dueAt, found, limit)
    }
    return found
  }

  /**
   * A page in the order of a listing, of every partition. One pass over the due times finds those that the page
   * needs, and one over each of their buckets the entries: neither sorts more than the page.
   */
  page({ after, before, limit }: DueRange): Entry[] {
    const found: Entry[] = []
    // In each partition every time but the cursor's own has an entry for the page, so one more for each is enough.
    const times = smallest(this.#times(after.dueAt, before), limit + this.#queues.length, (a, b) => a - b)
    for (const dueAt of new Set(times)) {
      const all = this.#at(dueAt)
      const wanted = dueAt > after.dueAt ? all : all.filter((entry) => isAfter(entry, after))
      found.push(...smallest(wanted, limit - found.length, byDue))
      if (found.length === limit) break
    }
    return found
  }

  /** How many entries are due at or before a moment. Costs as much as there are such times, not as wait. */
  countUntil(until: number): number {
    return this.#queues.reduce((count, queue) => count + (queue?.countUntil(until) ?? 0), 0)
  }

  *#times(from: number, before: number): Iterable<number> {
    for (const queue of this.#queues) {
      if (queue === undefined) continue
      for (const dueAt of queue.times()) if (dueAt >= from && dueAt < before) yield dueAt
    }
  }

  #at(dueAt: number): Entry[] {
    const found: Entry[] = []
    for (const queue of this.#queues) queue?.collect(dueAt, found, Infinity)
    return found
  }
}
