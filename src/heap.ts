// A binary heap: the first item by an order of one's own, without sorting the rest.

export class Heap<Item> {
  readonly #isBefore: (a: Item, b: Item) => boolean
  #items: Item[] = []

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    const items = this.#items
    let index = items.length
    items.push(item)
    while (index > 0) {
      const above = (index - 1) >> 1
      if (!this.#isBefore(item, items[above] as Item)) break
      items[index] = items[above] as Item
      index = above
    }
    items[index] = item
  }

  pop(): Item | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (this.#items.length > 0) this.#sink(last as Item)
    return first
  }

  /** Puts an item in the place of the first, and down to where it belongs. */
  #sink(item: Item): void {
    const items = this.#items
    let index = 0
    for (;;) {
      let below = 2 * index + 1
      if (below >= items.length) break
      if (below + 1 < items.length && this.#isBefore(items[below + 1] as Item, items[below] as Item))
        below += 1
      if (!this.#isBefore(items[below] as Item, item)) break
      items[index] = items[below] as Item
      index = below
    }
    items[index] = item
  }

  /** The items of which this is true, in no order; of none may it be true while it is false of one before it. */
  allWhile(isWanted: (item: Item) => boolean): Item[] {
    const found: Item[] = []
    const look = (index: number): void => {
      const item = this.#items[index]
      if (index >= this.#items.length || !isWanted(item as Item)) return
      found.push(item as Item)
      look(2 * index + 1)
      look(2 * index + 2)
    }
    look(0)
    return found
  }

  /** Keeps the items of which this is true. */
  keep(isKept: (item: Item) => boolean): void {
    const kept = this.#items.filter(isKept)
    this.#items = []
    for (const item of kept) this.push(item)
  }
}
