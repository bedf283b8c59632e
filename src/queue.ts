// A queue whose first item is taken, or put back, without moving the others.

/** Places that were left are dropped when there are more of them than this, and than items. */
const MOST_LEFT = 1024

export class Queue<Item> {
  #items: (Item | undefined)[] = []
  /** Where the first of them stands. */
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Puts an item before all others. */
  unshift(item: Item): void {
    if (this.#first === 0) this.#items.unshift(item)
    else this.#items[(this.#first -= 1)] = item
  }

  /** Takes the first away. */
  shift(): Item | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first] = undefined
    this.#first += 1
    if (this.size === 0 || (this.#first > MOST_LEFT && this.#first > this.size)) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }

  /** Takes those away of which this is true; answers them in their order. */
  remove(isMeant: (item: Item) => boolean): Item[] {
    const items = this.#items.slice(this.#first) as Item[]
    const meant = items.filter(isMeant)
    if (meant.length === 0) return meant
    const gone = new Set(meant)
    this.#items = items.filter((item) => !gone.has(item))
    this.#first = 0
    return meant
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let nth = this.#first; nth < this.#items.length; nth += 1) yield this.#items[nth] as Item
  }
}
