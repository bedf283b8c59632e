// Puts and appends in users' own transactions: only rows are inserted there, and folded once they are committed.
import { LARGEST_PAYLOAD_BYTES } from '../../check.ts'
import { HeadraceError } from '../../errors.ts'
import { poolResource } from '../../fence.ts'
import { refuseOtherPartition } from '../../log/refuse.ts'
import type { NewEvent } from '../../log/store.ts'
import type { Put } from '../../pool/merge.ts'
import type { Arrivals, FoldRequest, Folded, Hint, StoreContext } from '../../store.ts'
import type { UserTransaction } from '../../tx.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { OTHER_LIFE, wentBack } from './failure.ts'
import { claimColumns } from './fences.ts'
import type { Life } from './life.ts'
import { insertInto, isOf } from './own-transaction.ts'
import type { Pools } from './pools.ts'
import { columnsOf } from './put-batch.ts'
import type { Queries } from './queries.ts'
import type { Topics } from './topics.ts'

export interface PostgresArrivalsParts extends Pick<StoreContext, 'faults' | 'telemetry'> {
  connections: Connections
  queries: Queries
  pools: Pools
  topics: Topics
  life: Life
  address: string
  hint(hint: Hint): void
}

/** What was folded is gone: a lost answer only loses the answer. */
const FOLD: Call = { operation: 'commit', timeoutMs: 1000, again: 'exact' }

export class PostgresArrivals implements Arrivals {
  readonly #parts: PostgresArrivalsParts
  #inserts = 0

  constructor(parts: PostgresArrivalsParts) {
    this.#parts = parts
  }

  async put(tx: UserTransaction, name: string, puts: readonly Put[]): Promise<void> {
    const pool = this.#parts.pools.of(name)
    if (pool.payloads === 'all') throw refuseAll(name)
    const placed = puts.map((put, nth) => ({ put, nth }))
    const [isEach, ...columns] = columnsOf(pool, placed)
    await this.#insert(tx, 'puts', [pool.id, isEach, ...columns])
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
    await this.#insert(tx, 'events', values)
  }

  /** What names another life of the server is not written, and undoes the user's transaction. [Y22] */
  async #insert(tx: UserTransaction, what: 'puts' | 'events', values: unknown[]): Promise<void> {
    const { queries, life, address } = this.#parts
    const { name } = life
    this.#inserts += 1
    try {
      await insertInto(tx, {
        naming: queries.text('name_transaction'),
        name: `${name}/${this.#inserts}`,
        text: queries.text(`arrive_${what}`),
        values,
      })
    } catch (error) {
      if (!isOf(error, [OTHER_LIFE])) throw error
      await life.renew(name)
      throw wentBack(address, error)
    }
  }

  async foldPuts({ pool: name, limit, claim }: FoldRequest): Promise<Folded> {
    const pool = this.#parts.pools.of(name)
    const values = [
      pool.id,
      ...claimColumns(poolResource(name), claim),
      limit,
      pool.mode === 'each',
      LARGEST_PAYLOAD_BYTES,
    ]
    this.#parts.faults.at('fold.before-commit')
    const [row] = await this.#parts.connections.query('fold_puts', values, FOLD)
    this.#tellRefused(poolResource(name), row)
    const dueAt = row?.['first_due_at'] as number | null
    if (dueAt !== null) this.#parts.hint({ kind: 'put', pool: name, dueAt })
    const held = new Set(row?.['held'] as number[])
    const claimed = claim.held.map(({ partition }) => partition)
    return {
      count: row?.['folded'] as number,
      more: row?.['more'] as boolean,
      postponable: row?.['postponable'] as number[],
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  async foldEvents(name: string, limit: number): Promise<number> {
    const topic = await this.#parts.topics.of(name)
    this.#parts.faults.at('fold.before-commit')
    const values = [topic.id, limit, LARGEST_PAYLOAD_BYTES]
    const [row] = await this.#parts.connections.query('fold_events', values, FOLD)
    this.#tellRefused(`topic/${name}`, row)
    const folded = row?.['folded'] as number
    if (folded > 0) this.#parts.hint({ kind: 'appended', topic: name })
    return folded
  }

  /** Reports what was written past the library, and could not be read again. [U5] */
  #tellRefused(resource: string, row: Row | undefined): void {
    const arrivals = row?.['refused'] as number
    const key = row?.['refused_key'] as string
    if (arrivals > 0) this.#parts.telemetry.emit('arrivals.refused', { resource, arrivals, key })
  }
}

/** A fold is one statement, and has nobody to answer that an entry holds too much. */
function refuseAll(pool: string): HeadraceError {
  return new HeadraceError(
    'invalid_options',
    `the pool ${pool} keeps all payloads, and takes no puts with \`tx\``,
    {
      remedy: 'put after your own commit, or use a pool that keeps the latest payload',
    },
  )
}
