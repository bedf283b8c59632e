// Due entries become events in one statement.
import { poolResource } from '../../fence.ts'
import type { Hint, MoveRequest, Moved, Mover, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Floors, Found } from './floors.ts'
import type { Pools } from './pools.ts'
import type { Topics } from './topics.ts'

export interface PostgresMoverParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  topics: Topics
  floors: Floors
  hint(hint: Hint): void
}

/** A lost answer only loses the answer: the next move goes on. */
const MOVE: Call = { operation: 'commit', timeoutMs: 1000, again: 'undone' }
const LANES = 3
/** How many rows of one range are looked at, at least. */
const LEAST_RANGE = 256

export class PostgresMover implements Mover {
  readonly #parts: PostgresMoverParts

  constructor(parts: PostgresMoverParts) {
    this.#parts = parts
  }

  async move({ pool: name, topic: topicName, limit, claim }: MoveRequest): Promise<Moved> {
    const pool = this.#parts.pools.of(name)
    const topic = await this.#parts.topics.of(topicName)
    const claimed = claim.held.map(({ partition }) => partition)
    const ranges = Math.max(claimed.length, 1) * LANES
    const values = [
      pool.id,
      topic.id,
      topic.settings.partitions,
      Math.max(LEAST_RANGE, Math.ceil((4 * limit) / ranges)),
      limit,
      numberArray(claimed),
      numberArray(claim.held.map(({ epoch }) => epoch)),
      poolResource(name),
      claim.owner,
      name,
      pool.mode === 'each',
    ]
    const row = await this.#read(pool.id, claimed, values)
    const latenessMs = row['lateness_ms'] as number[]
    if (latenessMs.length > 0) this.#parts.hint({ kind: 'appended', topic: topicName })
    const held = new Set(row['held'] as number[])
    return {
      count: latenessMs.length,
      ...foundIn(row),
      latenessMs,
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  async #read(pool: number, claimed: number[], values: unknown[]): Promise<Row> {
    const { connections, floors, faults } = this.#parts
    const from = floors.beforeMove(pool, claimed)
    try {
      faults.at('move.before-commit')
      const [row = {}] = await connections.query('move', [...values, from], MOVE)
      faults.at('move.after-commit')
      floors.afterMove(pool, from, row['held'] as number[], foundIn(row))
      return row
    } catch (error) {
      floors.afterFailedMove(pool, from)
      throw error
    }
  }
}

function foundIn(row: Row): Found {
  return { now: row['now'] as number, nextDueAt: row['next_due_at'] as number | null }
}
