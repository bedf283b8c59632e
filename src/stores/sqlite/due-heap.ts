// The next of several sources that are each in due order, the earliest first: a binary heap in arrays of numbers, so
// that a step costs no object. Of sources that are due at one moment the lower comes first.

export class DueHeap {
  readonly #dueAts: number[] = []
  readonly #sources: number[] = []
  readonly #places: number[] = []

  /** Whether nothing is left. */
  get isEmpty(): boolean {
    return this.#dueAts.length === 0
  }

  /** Of the first: when it is due, whose it is, and where it stands there. */
  get dueAt(): number {
    return this.#dueAts[0] as number
  }

  get source(): number {
    return this.#sources[0] as number
  }

  get place(): number {
    return this.#places[0] as number
  }

  push(dueAt: number, source: number, place: number): void {
    let child = this.#dueAts.length
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!this.#isBefore(dueAt, source, parent)) break
      this.#move(parent, child)
      child = parent
    }
    this.#set(child, dueAt, source, place)
  }

  /** Drops the first. */
  pop(): void {
    const dueAt = this.#dueAts.pop() as number
    const source = this.#sources.pop() as number
    const place = this.#places.pop() as number
    const { length } = this.#dueAts
    if (length === 0) return
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= length) break
      if (child + 1 < length && this.#isChildBefore(child + 1, child)) child += 1
      if (this.#isBefore(dueAt, source, child)) break
      this.#move(child, parent)
      parent = child
    }
    this.#set(parent, dueAt, source, place)
  }

  #isChildBefore(child: number, other: number): boolean {
    return this.#isBefore(this.#dueAts[child] as number, this.#sources[child] as number, other)
  }

  #isBefore(dueAt: number, source: number, other: number): boolean {
    const otherDueAt = this.#dueAts[other] as number
    return dueAt < otherDueAt || (dueAt === otherDueAt && source < (this.#sources[other] as number))
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#dueAts[from] as number, this.#sources[from] as number, this.#places[from] as number)
  }

  #set(index: number, dueAt: number, source: number, place: number): void {
    this.#dueAts[index] = dueAt
    this.#sources[index] = source
    this.#places[index] = place
  }
}
