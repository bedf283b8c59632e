// The runs of one key that were taken while another of it was in flight: they wait behind it, in due order. Pure.
// Rule [X20] of docs/spec/work.md.
import type { TakenRun } from './entry.ts'
import { type TurnName, TurnSet } from './turn-set.ts'

/** A run that was taken. */
export interface Waiting {
  readonly taken: TakenRun
}

export class Behind<Item extends Waiting> {
  readonly #items: Item[] = []
  /** Slots of a key may be in several partitions. */
  readonly #turns = new TurnSet()

  get items(): readonly Item[] {
    return this.#items
  }

  get size(): number {
    return this.#items.length
  }

  /** When the last of them is due. */
  get lastDueAt(): number {
    return this.#items.at(-1)?.taken.dueAt ?? -Infinity
  }

  has(name: TurnName): boolean {
    return this.#turns.has(name)
  }

  /** To its place by due time, behind others of the same; they mostly come in this order. */
  add(item: Item): void {
    let place = this.#items.length
    while (place > 0 && (this.#items[place - 1] as Item).taken.dueAt > item.taken.dueAt) place -= 1
    this.#items.splice(place, 0, item)
    this.#turns.add(item.taken)
  }

  /** Takes the first away. */
  next(): Item | undefined {
    const item = this.#items.shift()
    if (item !== undefined) this.#turns.delete(item.taken)
    return item
  }

  /** Takes the last away. */
  last(): Item | undefined {
    const item = this.#items.pop()
    if (item !== undefined) this.#turns.delete(item.taken)
    return item
  }

  /** Takes the first away of which this is true, and all that come after it: none of them may go before it. */
  dropFrom(isMeant: (item: Item) => boolean): Item[] {
    const first = this.#items.findIndex(isMeant)
    const dropped = first < 0 ? [] : this.#items.splice(first)
    for (const { taken } of dropped) this.#turns.delete(taken)
    return dropped
  }
}
