// Puts and appends in users' own transactions: only rows are inserted there, and folded once they are committed.
import { HeadraceError } from '../../errors.ts'
import { poolResource } from '../../fence.ts'
import { refuseOtherPartition } from '../../log/refuse.ts'
import type { NewEvent } from '../../log/store.ts'
import type { Put } from '../../pool/merge.ts'
import type { Arrivals, FoldRequest, Folded, Hint, StoreContext, UserTransaction } from '../../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Call, Connections } from './connections.ts'
import type { Pools } from './pools.ts'
import { columnsOf } from './put-batch.ts'
import type { Queries } from './queries.ts'
import type { Topics } from './topics.ts'

export interface PostgresArrivalsParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  queries: Queries
  pools: Pools
  topics: Topics
  hint(hint: Hint): void
}

/** What was folded is gone: a lost answer only loses the answer. */
const FOLD: Call = { operation: 'commit', timeoutMs: 1000, again: 'exact' }

export class PostgresArrivals implements Arrivals {
  readonly #parts: PostgresArrivalsParts

  constructor(parts: PostgresArrivalsParts) {
    this.#parts = parts
  }

  async put(tx: UserTransaction, name: string, puts: readonly Put[]): Promise<void> {
    const pool = this.#parts.pools.of(name)
    if (pool.payloads === 'all') throw refuseAll(name)
    const placed = puts.map((put, nth) => ({ put, nth }))
    const [isEach, ...columns] = columnsOf(pool, placed)
    const text = this.#parts.queries.text('arrive_puts')
    await tx.query({ text, values: [pool.id, isEach, ...columns] })
  }

  async append(tx: UserTransaction, name: string, events: readonly NewEvent[]): Promise<void> {
    const topic = await this.#parts.topics.of(name)
    for (const { partition } of events) refuseOtherPartition(topic.settings, partition)
    const values = [
      topic.id,
      numberArray(events.map(({ partition }) => partition)),
      textArray(events.map(({ id }) => id)),
      textArray(events.map(({ key }) => key)),
      textArray(events.map(({ value }) => value)),
      textArray(events.map(({ headers }) => headers)),
    ]
    await tx.query({ text: this.#parts.queries.text('arrive_events'), values })
  }

  async foldPuts({ pool: name, limit, claim }: FoldRequest): Promise<Folded> {
    const pool = this.#parts.pools.of(name)
    const values = [
      pool.id,
      numberArray(claim.held.map(({ partition }) => partition)),
      numberArray(claim.held.map(({ epoch }) => epoch)),
      poolResource(name),
      claim.owner,
      limit,
      pool.mode === 'each',
    ]
    this.#parts.faults.at('fold.before-commit')
    const [row] = await this.#parts.connections.query('fold_puts', values, FOLD)
    const dueAt = row?.['first_due_at'] as number | null
    if (dueAt !== null) this.#parts.hint({ kind: 'put', pool: name, dueAt })
    const held = new Set(row?.['held'] as number[])
    const claimed = claim.held.map(({ partition }) => partition)
    return {
      count: row?.['folded'] as number,
      more: row?.['more'] as boolean,
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  async foldEvents(name: string, limit: number): Promise<number> {
    const topic = await this.#parts.topics.of(name)
    this.#parts.faults.at('fold.before-commit')
    const [row] = await this.#parts.connections.query('fold_events', [topic.id, limit], FOLD)
    const folded = row?.['folded'] as number
    if (folded > 0) this.#parts.hint({ kind: 'appended', topic: name })
    return folded
  }
}

/** A fold is one statement, and cannot tell anybody that an entry holds too much. */
function refuseAll(pool: string): HeadraceError {
  return new HeadraceError(
    'invalid_options',
    `the pool ${pool} keeps all payloads, and takes no puts with \`tx\``,
    {
      remedy: 'put after your own commit, or use a pool that keeps the latest payload',
    },
  )
}
