// What a worker has in flight: keys whose runs were taken and have not ended, turns that were settled a moment ago, and
// the takes that are under way. Pure. Rules [X2] and [X3] of docs/spec/work.md.

/** What names a run. */
export interface RunName {
  key: string
  slot: number | null
  partition: number
  turn: number
}

interface Flying {
  slot: number | null
  partition: number
  turn: number
  /** The earliest due time of runs that were passed over because of this one. */
  passedOver: number | null
}

interface Settled {
  partition: number
  turn: number
  /** The last take that had begun when the settle was answered. */
  take: number
}

/** `free`: it may start. `here`: this very run is in flight, or was settled. `busy`: another of its key is in flight. */
export type Admission = 'free' | 'here' | 'busy'

export class InFlight {
  readonly #keys = new Map<string, Flying>()
  /** Turns that were settled, by partition: a turn is unique in its partition only. */
  readonly #turns = new Map<number, Set<number>>()
  /** The same in the order of their settles, from `#first` on. */
  #settled: Settled[] = []
  #first = 0
  readonly #takes = new Set<number>()
  #take = 0

  /** How many keys are in flight. */
  get size(): number {
    return this.#keys.size
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  /** A take begins; answers its number. */
  beginTake(): number {
    this.#take += 1
    this.#takes.add(this.#take)
    return this.#take
  }

  /** It has returned, or failed, and what it answered was admitted. */
  endTake(take: number): void {
    this.#takes.delete(take)
    this.#forget()
  }

  /** Whether a run that a take answered may start. One that is passed over is remembered with the run that is in its way. */
  admit({ key, slot, partition, turn }: RunName, dueAt: number): Admission {
    const flying = this.#keys.get(key)
    if (flying === undefined) return this.#turns.get(partition)?.has(turn) === true ? 'here' : 'free'
    if (flying.turn === turn && flying.partition === partition && flying.slot === slot) return 'here'
    if (this.#turns.get(partition)?.has(turn) === true) return 'here'
    flying.passedOver = Math.min(flying.passedOver ?? dueAt, dueAt)
    return 'busy'
  }

  /** A run that was free is in flight from now on. */
  add({ key, slot, partition, turn }: RunName): void {
    this.#keys.set(key, { slot, partition, turn, passedOver: null })
  }

  /** The run was settled, and its handler has ended. Answers when the first run is due that it was in the way of. */
  settle({ key, partition, turn }: RunName): number | null {
    if (this.#takes.size > 0) {
      this.#settled.push({ partition, turn, take: this.#take })
      const turns = this.#turns.get(partition)
      if (turns === undefined) this.#turns.set(partition, new Set([turn]))
      else turns.add(turn)
    }
    return this.release({ key })
  }

  /** The run is let go without a settle, and its handler has ended. Answers as `settle` does. */
  release({ key }: { key: string }): number | null {
    const flying = this.#keys.get(key)
    this.#keys.delete(key)
    return flying?.passedOver ?? null
  }

  /** Forgets turns that no take under way can bring back. */
  #forget(): void {
    const oldest = this.#takes.size === 0 ? Infinity : Math.min(...this.#takes)
    while (this.#first < this.#settled.length) {
      const { partition, turn, take } = this.#settled[this.#first] as Settled
      if (oldest <= take) break
      this.#turns.get(partition)?.delete(turn)
      this.#first += 1
    }
    if (this.#first * 2 < this.#settled.length) return
    this.#settled = this.#settled.slice(this.#first)
    this.#first = 0
  }
}
