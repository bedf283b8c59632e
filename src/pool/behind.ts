// The runs of one key that were taken while another of it was in flight: they wait behind it, in due order. Pure.
// Rule [X20] of docs/spec/work.md.
import type { TakenRun } from './entry.ts'

/** A run that was taken. */
export interface Waiting {
  readonly taken: TakenRun
}

export class Behind<Item extends Waiting> {
  readonly #items: Item[] = []
  /** The partition of each turn: slots of a key may be in several, and a turn is unique in its partition only. */
  readonly #turns = new Map<number, number>()

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

  has({ partition, turn }: { partition: number; turn: number }): boolean {
    return this.#turns.get(turn) === partition
  }

  /** To its place by due time, behind others of the same; they mostly come in this order. */
  add(item: Item): void {
    let place = this.#items.length
    while (place > 0 && (this.#items[place - 1] as Item).taken.dueAt > item.taken.dueAt) place -= 1
    this.#items.splice(place, 0, item)
    this.#turns.set(item.taken.turn, item.taken.partition)
  }

  /** Takes the first away. */
  next(): Item | undefined {
    const item = this.#items.shift()
    if (item !== undefined) this.#turns.delete(item.taken.turn)
    return item
  }

  /** Takes the last away. */
  last(): Item | undefined {
    const item = this.#items.pop()
    if (item !== undefined) this.#turns.delete(item.taken.turn)
    return item
  }

  /** Takes those away of which this is true. */
  drop(isMeant: (item: Item) => boolean): Item[] {
    const meant = this.#items.filter(isMeant)
    const kept = this.#items.filter((item) => !isMeant(item))
    this.#items.splice(0, this.#items.length, ...kept)
    for (const { taken } of meant) this.#turns.delete(taken.turn)
    return meant
  }
}
