// Puts and appends in transactions of users, for the simulated store. The memory store has none: what would a user commit
// there together with them? Rows have their place from the insert on, and are seen from the commit on, which may come
// late; a fold is a put or append of the store's own, under the fence. Calls must come one after the other.
import type { Clock } from '../../clock.ts'
import type { Faults } from '../../fault.ts'
import { poolResource } from '../../fence.ts'
import type { NewEvent } from '../../log/store.ts'
import { partitionOf } from '../../partition.ts'
import { type Mode, entryName } from '../../pool/entry.ts'
import type { Put } from '../../pool/merge.ts'
import type { Arrivals, FoldRequest, Folded, PulseRequest, Store } from '../../store.ts'
import type { UserTransaction } from '../../tx.ts'

interface Row<What> {
  id: number
  /** The pool or topic. */
  name: string
  partition: number
  what: What
  /** Who had the partition at the commit. */
  owner: string | null
}

/** A transaction of a user's. What arrives in it is nowhere else until it is committed. */
export class LateTransaction implements UserTransaction {
  /** What it was begun in; null: nothing has arrived in it. */
  generation: string | null = null
  readonly puts: Row<Put>[] = []
  readonly events: Row<NewEvent>[] = []

  query(): Promise<unknown> {
    return Promise.reject(new Error('this transaction has no language'))
  }
}

export interface LateArrivalsParts {
  store: Store
  clock: Clock
  faults: Faults
  mode: Mode
  partitions: number
  /** Who has a partition of a pool; null: nobody. */
  ownerOf(resource: string, partition: number): string | null
  /** An arrival was folded: behind a later one, or by another than had its partition when it was committed. */
  folded(how: { late: boolean; byNext: boolean }): void
}

export class LateArrivals implements Arrivals {
  readonly #parts: LateArrivalsParts
  #puts: Row<Put>[] = []
  #events: Row<NewEvent>[] = []
  #ids = 0
  /** Changes when the store went back. */
  #generation = 'first'
  /** The highest that was folded, by pool or topic. */
  readonly #folded = new Map<string, number>()

  constructor(parts: LateArrivalsParts) {
    this.#parts = parts
  }

  /** The same store, with arrivals. */
  wrap(): Store {
    const { store } = this.#parts
    return {
      ...store,
      arrivals: this,
      pulse: async (request) => ({ ...(await store.pulse(request)), arrived: this.#arrived(request) }),
    }
  }

  /** Takes what has arrived; what is answered goes back to it. Transactions of before cannot be committed then. [G6] */
  snapshot(): (generation: string) => void {
    const [puts, events] = [this.#puts, this.#events]
    return (generation) => {
      this.#generation = generation
      this.#puts = puts
      this.#events = events
    }
  }

  /** The ids of the events that were committed and not folded. */
  get eventIds(): string[] {
    return this.#events.map(({ what }) => what.id)
  }

  /** What was committed and not folded. */
  get waiting(): number {
    return this.#puts.length + this.#events.length
  }

  async put(tx: UserTransaction, pool: string, puts: readonly Put[]): Promise<void> {
    const { mode, partitions, clock } = this.#parts
    for (const { inMs, ...put } of puts) {
      const now = inMs !== undefined || mode === 'each' ? clock.now() : null
      const at = put.at ?? (now === null ? null : now + (inMs ?? 0))
      const partition = partitionOf(put.group, partitions)
      this.#own(tx).puts.push({ ...this.#newRow(pool), partition, what: { ...put, at } })
    }
  }

  async append(tx: UserTransaction, topic: string, events: readonly NewEvent[]): Promise<void> {
    for (const event of events) {
      this.#own(tx).events.push({ ...this.#newRow(topic), partition: event.partition, what: event })
    }
  }

  #newRow(name: string): { id: number; name: string; owner: null } {
    this.#ids += 1
    return { id: this.#ids, name, owner: null }
  }

  #own(tx: UserTransaction): LateTransaction {
    if (tx instanceof LateTransaction) {
      tx.generation ??= this.#generation
      return tx
    }
    throw new Error('this is no transaction of the simulated store')
  }

  /** Whether it was begun before the store went back: then it is rolled back. */
  isLost({ generation }: LateTransaction): boolean {
    return generation !== null && generation !== this.#generation
  }

  commit({ puts, events }: LateTransaction): void {
    const parts = this.#parts
    const owned = puts.map((row) => ({ ...row, owner: parts.ownerOf(poolResource(row.name), row.partition) }))
    this.#puts = [...this.#puts, ...owned].toSorted((a, b) => a.id - b.id)
    this.#events = [...this.#events, ...events].toSorted((a, b) => a.id - b.id)
  }

  async foldPuts({ pool, limit, claim }: FoldRequest): Promise<Folded> {
    const { store, faults } = this.#parts
    faults.at('fold.before-commit')
    const held = await this.#held({ pool, claim })
    const claimed = claim.held.map(({ partition }) => partition)
    const arrived = claimed.map((partition) =>
      held.has(partition) ? this.#in(pool, partition).slice(0, limit) : [],
    )
    const first = this.#firstOfEach(arrived.flat().toSorted((a, b) => a.id - b.id))
    const puts = first.map(({ what }) => what)
    if (puts.length > 0) await store.pool.entries.put(pool, [{ puts, repeat: null }])
    this.#puts = this.#puts.filter((row) => !first.includes(row))
    for (const row of first) this.#tell(row, claim.owner)
    return {
      count: first.length,
      more: arrived.flat().length > first.length || arrived.some(({ length }) => length >= limit),
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  async foldEvents(topic: string, limit: number): Promise<number> {
    const { store, faults } = this.#parts
    faults.at('fold.before-commit')
    const arrived = this.#events.filter(({ name }) => name === topic).slice(0, limit)
    const events = arrived.map(({ what }) => what)
    if (events.length > 0) await store.log.append(topic, events)
    this.#events = this.#events.filter((row) => !arrived.includes(row))
    for (const row of arrived) this.#tell(row, null)
    return events.length
  }

  async #held({ pool, claim }: Pick<FoldRequest, 'pool' | 'claim'>): Promise<Set<number>> {
    const fences = await this.#parts.store.fences.fences(poolResource(pool))
    const holds = claim.held.filter(({ partition, epoch }) =>
      fences.some(
        (fence) => fence.partition === partition && fence.epoch === epoch && fence.owner === claim.owner,
      ),
    )
    return new Set(holds.map(({ partition }) => partition))
  }

  #in(pool: string, partition: number): Row<Put>[] {
    return this.#puts.filter((row) => row.name === pool && row.partition === partition)
  }

  /** Of each entry the first: those behind it come with the next fold, as in PostgreSQL. */
  #firstOfEach(rows: readonly Row<Put>[]): Row<Put>[] {
    const seen = new Map<string, Row<Put>>()
    for (const row of rows) {
      const name = entryName(row.what.key, this.#parts.mode === 'each' ? row.what.at : null)
      if (!seen.has(name)) seen.set(name, row)
    }
    return [...seen.values()]
  }

  #tell({ id, name, partition, owner }: Row<unknown>, by: string | null): void {
    const place = `${name}/${partition}`
    const highest = this.#folded.get(place) ?? 0
    this.#folded.set(place, Math.max(highest, id))
    this.#parts.folded({ late: id < highest, byNext: owner !== null && owner !== by })
  }

  #arrived({ pools }: PulseRequest): string[] {
    const inPools = pools.filter(({ pool, partitions }) =>
      this.#puts.some((row) => row.name === pool && partitions.includes(row.partition)),
    )
    const topics = new Set(this.#events.map(({ name }) => `topic/${name}`))
    return [...inPools.map(({ pool }) => poolResource(pool)), ...topics]
  }
}
