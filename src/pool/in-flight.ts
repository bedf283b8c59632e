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

/** What a key that is in flight is in the way of; most are in nobody's. */
interface Rear<Item extends Waiting> {
  /** The earliest due time of runs that were passed over because of the key: for them there was no room behind it. */
  passedOver: number | null
  readonly behind: Behind<Item>
}

/** Turns that were settled after the same take. */
interface Settled {
  readonly turns: TurnSet
  /** The last take that had begun when the settle was answered. */
  readonly take: number
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
  readonly #keys = new Map<string, Item>()
  /** Of the keys that are in the way of others. */
  readonly #rears = new Map<string, Rear<Item>>()
  /** Turns that were settled, in the order of their settles. */
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
  items(): Iterable<Item> {
    return this.#keys.values()
  }

  /** The same with those behind them, and the earliest due time of those passed over because of each; null: of none. */
  *all(): Generator<{ item: Item; behind: readonly Item[]; passedOver: number | null }> {
    for (const [key, item] of this.#keys) {
      const rear = this.#rears.get(key)
      yield { item, behind: rear?.behind.items ?? [], passedOver: rear?.passedOver ?? null }
    }
  }

  /** The run of a key that is in flight, and those behind it. */
  ofKey(key: string): Item[] {
    const item = this.#keys.get(key)
    return item === undefined ? [] : [item, ...(this.#rears.get(key)?.behind.items ?? [])]
  }

  /** A take begins; answers its number. */
  beginTake(): number {
    this.#take += 1
    this.#takes.add(this.#take)
    return this.#take
  }

  /** The last take that has begun; null: none is under way. */
  get lastTake(): number | null {
    return this.#takes.size === 0 ? null : this.#take
  }

  /** Whether this take, or one before it, is under way. */
  isUnderWay(take: number): boolean {
    for (const each of this.#takes) if (each <= take) return true
    return false
  }

  /** It has returned, or failed, and what it answered was admitted. */
  endTake(take: number): void {
    this.#takes.delete(take)
    this.#forget()
  }

  /** Whether a run that a take answered may start. */
  admit(run: RunName): Admission {
    for (const { turns } of this.#settled) if (turns.has(run)) return 'here'
    const item = this.#keys.get(run.key)
    if (item === undefined) return 'free'
    const { turn, partition, slot } = item.taken
    if (turn === run.turn && partition === run.partition && slot === run.slot) return 'here'
    return this.#rears.get(run.key)?.behind.has(run) === true ? 'here' : 'busy'
  }

  /** A run that was free is in flight from now on. */
  add(item: Item): void {
    this.#keys.set(item.taken.key, item)
  }

  /**
   * A busy run waits behind the one of its key, if there is room; answers the run that has none: this one, or a later one
   * that made room for it. None goes before one that was passed over: runs of a key are made in due order. [X20]
   */
  putBehind(item: Item): Item | null {
    const { key, dueAt } = item.taken
    if (!this.#keys.has(key)) return item
    const rear = this.#rearOf(key)
    const { behind, passedOver } = rear
    const isFull =
      behind.size >= MOST_BEHIND_ONE || this.#behind >= MOST_BEHIND || this.#payload >= MOST_PAYLOAD
    if ((passedOver !== null && dueAt >= passedOver) || (isFull && dueAt >= behind.lastDueAt)) {
      passOver(rear, dueAt)
      return item
    }
    const last = isFull ? (behind.last() ?? null) : null
    if (last !== null) this.#without(rear, last)
    behind.add(item)
    this.#weigh(item, 1)
    return last
  }

  /** The run was settled, and its handler has ended. */
  settle(run: Omit<RunName, 'slot'>): Freed<Item> {
    if (this.#takes.size > 0) {
      let last = this.#settled.at(-1)
      if (last?.take !== this.#take) this.#settled.push((last = { turns: new TurnSet(), take: this.#take }))
      last.turns.add(run)
    }
    return this.release(run.key)
  }

  /** The run is let go without a settle, and its handler has ended or never began. */
  release(key: string): Freed<Item> {
    const rear = this.#rears.size === 0 ? undefined : this.#rears.get(key)
    if (rear === undefined) {
      this.#keys.delete(key)
      return FREE
    }
    const next = rear.behind.next()
    if (next !== undefined) {
      this.#weigh(next, -1)
      this.#keys.set(key, next)
      return { next, passedOver: null }
    }
    this.#keys.delete(key)
    this.#rears.delete(key)
    return { next: null, passedOver: rear.passedOver }
  }

  /**
   * Drops what waits behind others, if this is true of it or of one that is due before it: it counts as passed over, and
   * none goes before one that was. [X20]
   */
  drop(isMeant: (item: Item) => boolean, key?: string): Item[] {
    const one = key === undefined ? undefined : this.#rears.get(key)
    if (this.#behind === 0 || (key !== undefined && one === undefined)) return []
    return [...(one === undefined ? this.#rears.values() : [one])].flatMap((rear) => {
      const dropped = rear.behind.dropFrom(isMeant)
      for (const item of dropped) this.#without(rear, item)
      return dropped
    })
  }

  #rearOf(key: string): Rear<Item> {
    let rear = this.#rears.get(key)
    if (rear === undefined) this.#rears.set(key, (rear = { passedOver: null, behind: new Behind() }))
    return rear
  }

  #without(rear: Rear<Item>, item: Item): void {
    this.#weigh(item, -1)
    passOver(rear, item.taken.dueAt)
  }

  #weigh({ taken }: Item, by: 1 | -1): void {
    this.#behind += by
    this.#payload += by * (taken.payload?.length ?? 0)
  }

  /** Forgets turns that no take under way can bring back. */
  #forget(): void {
    const oldest = this.#takes.size === 0 ? Infinity : Math.min(...this.#takes)
    this.#settled = this.#settled.filter(({ take }) => take >= oldest)
  }
}

function passOver(rear: Rear<Waiting>, dueAt: number): void {
  if (rear.passedOver === null || dueAt < rear.passedOver) rear.passedOver = dueAt
}
