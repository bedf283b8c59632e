// Turns by their partitions: a turn is unique in its partition only. Pure.

/** A turn of a partition. */
export interface TurnName {
  readonly partition: number
  readonly turn: number
}

export class TurnSet {
  readonly #turns = new Map<number, Set<number>>()
  /** No turn is higher: what was put later is told apart without a search. */
  #highest = -Infinity

  has({ partition, turn }: TurnName): boolean {
    return turn <= this.#highest && this.#turns.get(partition)?.has(turn) === true
  }

  add({ partition, turn }: TurnName): void {
    if (turn > this.#highest) this.#highest = turn
    const turns = this.#turns.get(partition)
    if (turns === undefined) this.#turns.set(partition, new Set([turn]))
    else turns.add(turn)
  }

  delete({ partition, turn }: TurnName): void {
    this.#turns.get(partition)?.delete(turn)
  }
}
