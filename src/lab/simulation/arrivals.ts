// Puts and appends in transactions of users, for the simulated store. The memory store has none: what would a user commit
// there together with them? Rows have their place from the insert on, and are seen from the commit on, which may come
// late; a fold is a put or append of the store's own, under the fence. Calls must come one after the other.
import type { Clock } from '../../clock.ts'
import type { Faults } from '../../fault.ts'
import { poolResource } from '../../fence.ts'
import type { NewEvent } from '../../log/store.ts'
import { partitionOf } from '../../partition.ts'
import { type Mode, entryName } from '../../pool/entry.ts'
import { type Arrived, type FoldedPut, foldFirst } from '../../pool/fold.ts'
import type { Put, PutAnswer } from '../../pool/merge.ts'
import type { PutResponse } from '../../pool/store.ts'
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
  readonly puts: Row<Arrived>[] = []
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
  /** A put that arrived was replaced by one that arrived behind it, and does not come to the store. */
  replaced(put: Put): void
}

export class LateArrivals implements Arrivals {
  readonly #parts: LateArrivalsParts
  #puts: Row<Arrived>[] = []
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
      const madeAt = clock.now()
      const at = put.at ?? (inMs !== undefined || mode === 'each' ? madeAt + (inMs ?? 0) : null)
      const partition = partitionOf(put.group, partitions)
      this.#own(tx).puts.push({ ...this.#newRow(pool), partition, what: { put: { ...put, at }, madeAt } })
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
    const firsts = this.#firstOfEach(arrived.flat().toSorted((a, b) => a.id - b.id))
    const puts = firsts.map(({ put }) => put)
    const [response] = puts.length > 0 ? await store.pool.entries.put(pool, [{ puts, repeat: null }]) : []
    const rows = firsts.flatMap((first) => first.rows)
    this.#puts = this.#puts.filter((row) => !rows.includes(row))
    for (const row of rows) this.#tell(row, claim.owner)
    for (const first of firsts) {
      for (const { what } of first.rows.slice(0, -1)) this.#parts.replaced(what.put)
    }
    return {
      count: rows.length,
      more: arrived.flat().length > rows.length || arrived.some(({ length }) => length >= limit),
      postponable: this.#postponable(puts, response),
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  #postponable(puts: readonly Put[], response: PutResponse | undefined): number[] {
    const answers: readonly PutAnswer[] = response?.kind === 'answered' ? response.answers : []
    const { mode, clock } = this.#parts
    return answers.flatMap(({ dueAt }, nth) =>
      mode === 'one' && puts[nth]?.onConflict === 'replace' && dueAt > clock.now() ? [dueAt] : [],
    )
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

  #in(pool: string, partition: number): Row<Arrived>[] {
    return this.#puts.filter((row) => row.name === pool && row.partition === partition)
  }

  /** Of each entry the first, and those that replace it: what is behind comes with the next fold, as in PostgreSQL. [U6] */
  #firstOfEach(rows: readonly Row<Arrived>[]): (FoldedPut & { rows: Row<Arrived>[] })[] {
    const { mode } = this.#parts
    const nameOf = ({ what: { put } }: Row<Arrived>): string =>
      entryName(put.key, mode === 'each' ? put.at : null)
    return [...Map.groupBy(rows, nameOf).values()].map((lined) => {
      const arrived = (mode === 'each' ? lined.slice(0, 1) : lined).map(({ what }) => what)
      const folded = foldFirst(arrived as [Arrived, ...Arrived[]])
      return { ...folded, rows: lined.slice(0, folded.count) }
    })
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
