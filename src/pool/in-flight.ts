// What a worker has in flight: keys whose runs were taken and have not ended, runs that wait behind one of their key,
// turns that were settled a moment ago, and the takes that are under way. Pure. Rules [X2], [X3] and [X20] of
// docs/spec/work.md.
import { Behind, type Waiting } from './behind.ts'
import { type TurnName, TurnSet } from './turn-set.ts'

/** What names a run. */
export interface RunName extends TurnName {
  key: string
  slot: number | null
}

interface Flying<Item> {
  item: Item
  /** The earliest due time of runs that were passed over because of this one: for them there was no room behind it. */
  passedOver: number | null
  behind: Behind<Item & Waiting> | null
}

/** Turns that were settled, each with its partition, after the same take: without their runs, which may be large. */
interface Settled {
  partitions: number[]
  turns: number[]
  /** The last take that had begun when the settle was answered. */
  take: number
}

/** `free`: it may start. `here`: this very run is in flight, or was settled. `busy`: another of its key is in flight. */
export type Admission = 'free' | 'here' | 'busy'

/** What becomes of a key whose run has ended. */
export interface Freed<Item> {
  /** The run that was behind it, which is in flight from now on; null: none was. */
  next: Item | null
  /** When the first run is due that it was in the way of; null: there is none, or the key is in flight still. */
  passedOver: number | null
}

/** How many runs wait behind one of their key at most. */
const MOST_BEHIND_ONE = 1000
/** The same of all keys, and how many characters their payloads have. */
const MOST_BEHIND = 10_000
const MOST_PAYLOAD = 16_777_216

const FREE: Freed<never> = { next: null, passedOver: null }

export class InFlight<Item extends Waiting> {
  readonly #keys = new Map<string, Flying<Item>>()
  /** Turns that were settled. */
  readonly #turns = new TurnSet()
  /** The same in the order of their settles. */
  #settled: Settled[] = []
  readonly #takes = new Set<number>()
  #take = 0
  #behind = 0
  #payload = 0

  /** How many keys are in flight. */
  get size(): number {
    return this.#keys.size
  }

  /** The runs that are in flight, without those behind them. */
  *items(): Generator<Item> {
    for (const { item } of this.#keys.values()) yield item
  }

  /** The run of a key that is in flight, and those behind it. */
  ofKey(key: string): Item[] {
    const flying = this.#keys.get(key)
    return flying === undefined ? [] : [flying.item, ...(flying.behind?.items ?? [])]
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

  /** Whether a run that a take answered may start. */
  admit(run: RunName): Admission {
    const flying = this.#keys.get(run.key)
    if (this.#turns.has(run)) return 'here'
    if (flying === undefined) return 'free'
    const { turn, partition, slot } = flying.item.taken
    if (turn === run.turn && partition === run.partition && slot === run.slot) return 'here'
    return flying.behind?.has(run) === true ? 'here' : 'busy'
  }

  /** A run that was free is in flight from now on. */
  add(item: Item): void {
    this.#keys.set(item.taken.key, { item, passedOver: null, behind: null })
  }

  /**
   * A busy run waits behind the one of its key, if there is room; answers the run that has none: this one, or a later one
   * that made room for it. None goes before one that was passed over: runs of a key are made in due order. [X20]
   */
  putBehind(item: Item): Item | null {
    const flying = this.#keys.get(item.taken.key)
    if (flying === undefined) return item
    const { dueAt } = item.taken
    const { behind, passedOver } = flying
    const isFull =
      (behind?.size ?? 0) >= MOST_BEHIND_ONE || this.#behind >= MOST_BEHIND || this.#payload >= MOST_PAYLOAD
    if (
      (passedOver !== null && dueAt >= passedOver) ||
      (isFull && dueAt >= (behind?.lastDueAt ?? -Infinity))
    ) {
      this.#passOver(flying, dueAt)
      return item
    }
    const last = isFull ? (behind?.last() ?? null) : null
    if (last !== null) this.#without(flying, last)
    flying.behind ??= new Behind()
    flying.behind.add(item)
    this.#weigh(item, 1)
    return last
  }

  /** The run was settled, and its handler has ended. */
  settle(run: Omit<RunName, 'slot'>): Freed<Item> {
    if (this.#takes.size > 0) {
      let last = this.#settled.at(-1)
      if (last?.take !== this.#take)
        this.#settled.push((last = { partitions: [], turns: [], take: this.#take }))
      last.partitions.push(run.partition)
      last.turns.push(run.turn)
      this.#turns.add(run)
    }
    return this.release(run.key)
  }

  /** The run is let go without a settle, and its handler has ended or never began. */
  release(key: string): Freed<Item> {
    const flying = this.#keys.get(key)
    if (flying === undefined) return FREE
    const next = flying.behind?.next()
    if (next !== undefined) {
      this.#weigh(next, -1)
      flying.item = next
      return { next, passedOver: null }
    }
    this.#keys.delete(key)
    return flying.passedOver === null ? FREE : { next: null, passedOver: flying.passedOver }
  }

  /**
   * Drops what waits behind others, if this is true of it or of one that is due before it: it counts as passed over, and
   * none goes before one that was. [X20]
   */
  drop(isMeant: (item: Item) => boolean, key?: string): Item[] {
    const one = key === undefined ? undefined : this.#keys.get(key)
    if (this.#behind === 0 || (key !== undefined && one === undefined)) return []
    return [...(one === undefined ? this.#keys.values() : [one])].flatMap((flying) => {
      const dropped = flying.behind?.dropFrom(isMeant) ?? []
      for (const item of dropped) this.#without(flying, item)
      return dropped
    })
  }

  #without(flying: Flying<Item>, item: Item): void {
    this.#weigh(item, -1)
    this.#passOver(flying, item.taken.dueAt)
  }

  #passOver(flying: Flying<Item>, dueAt: number): void {
    if (flying.passedOver === null || dueAt < flying.passedOver) flying.passedOver = dueAt
  }

  #weigh({ taken }: Item, by: 1 | -1): void {
    this.#behind += by
    this.#payload += by * (taken.payload?.length ?? 0)
  }

  /** Forgets turns that no take under way can bring back. */
  #forget(): void {
    const oldest = this.#takes.size === 0 ? Infinity : Math.min(...this.#takes)
    const kept = this.#settled.findIndex(({ take }) => take >= oldest)
    const gone = this.#settled.splice(0, kept < 0 ? this.#settled.length : kept)
    for (const { partitions, turns } of gone)
      turns.forEach((turn, nth) => this.#turns.delete({ partition: partitions[nth] as number, turn }))
  }
}
