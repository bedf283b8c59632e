// An index of the entries of a pool: by name, and the live ones of each partition by due time, so that a search for what is
// due does not pass over what waits.
import { Heap } from '../../heap.ts'
import { type Entry, entryName, liveDueAt } from '../../pool/entry.ts'
import { mark } from '../../pool/mark.ts'
import type { Mark, MarkAnswer } from '../../pool/store.ts'

/** An entry as it was set; gone when it was replaced or deleted, and then still in its heap for a while. */
interface Place {
  readonly entry: Entry
  isGone: boolean
}

interface Line {
  readonly heap: Heap<Place>
  gone: number
}

/** Fewer places that are gone are left where they are. */
const LEAST_SWEPT = 16

export class EntryIndex {
  readonly #places = new Map<string, Place>()
  readonly #lines = new Map<number, Line>()

  get(name: string): Entry | undefined {
    return this.#places.get(name)?.entry
  }

  /** An entry is never changed in place: it is replaced. */
  set(name: string, entry: Entry): void {
    this.#leave(this.#places.get(name))
    const place = { entry, isGone: false }
    this.#places.set(name, place)
    if (liveDueAt(entry) !== null) this.#line(entry.partition).heap.push(place)
  }

  delete(name: string): void {
    this.#leave(this.#places.get(name))
    this.#places.delete(name)
  }

  /** Marks runs of the partitions that are held. */
  mark(marks: readonly Mark[], held: ReadonlySet<number>): MarkAnswer[] {
    return marks.map((asked) => {
      const name = entryName(asked.key, asked.slot)
      const { entry, answer } = mark(this.get(name), asked, held)
      if (entry !== null) this.set(name, entry)
      return answer
    })
  }

  snapshot(): () => void {
    const kept = [...this.#places].map(([name, { entry }]) => [name, entry] as const)
    return () => {
      this.#places.clear()
      this.#lines.clear()
      for (const [name, entry] of kept) this.set(name, entry)
    }
  }

  *values(): Iterable<Entry> {
    for (const { entry } of this.#places.values()) yield entry
  }

  /** When the first live entry of some partitions is due; null: none is. */
  firstDueAt(partitions: Iterable<number>): number | null {
    let first: number | null = null
    for (const partition of partitions) {
      const place = this.#first(partition)
      if (place !== undefined && (first === null || place.entry.next.dueAt < first))
        first = place.entry.next.dueAt
    }
    return first
  }

  /** The live entries of some partitions that are due by then, in no order. */
  dueBy(now: number, partitions: Iterable<number>): Entry[] {
    const due: Entry[] = []
    for (const partition of partitions) {
      if (this.#first(partition) === undefined) continue
      for (const { entry, isGone } of this.#line(partition).heap.allWhile(
        (place) => place.entry.next.dueAt <= now,
      ))
        if (!isGone) due.push(entry)
    }
    return due
  }

  /** The first that is not gone. */
  #first(partition: number): Place | undefined {
    const line = this.#lines.get(partition)
    while (line?.heap.first?.isGone === true) {
      line.heap.pop()
      line.gone -= 1
    }
    return line?.heap.first
  }

  #line(partition: number): Line {
    let line = this.#lines.get(partition)
    if (line === undefined) {
      line = { heap: new Heap((a, b) => a.entry.next.dueAt < b.entry.next.dueAt), gone: 0 }
      this.#lines.set(partition, line)
    }
    return line
  }

  /** Sweeps when half of a line is gone, so that what is cancelled long before it is due takes no room until then. */
  #leave(place: Place | undefined): void {
    if (place === undefined) return
    place.isGone = true
    if (liveDueAt(place.entry) === null) return
    const line = this.#line(place.entry.partition)
    line.gone += 1
    if (line.gone < LEAST_SWEPT || line.gone * 2 < line.heap.size) return
    line.heap.keep(({ isGone }) => !isGone)
    line.gone = 0
  }
}
