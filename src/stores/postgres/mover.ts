// Due entries become events in one statement.
import { poolResource } from '../../fence.ts'
import type { Hint, MoveRequest, Moved, Mover, StoreContext } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections } from './connections.ts'
import type { Pools } from './pools.ts'
import type { Topics } from './topics.ts'

export interface PostgresMoverParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  pools: Pools
  topics: Topics
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
    const { connections, pools, topics, faults } = this.#parts
    const pool = pools.of(name)
    const topic = await topics.of(topicName)
    const ranges = Math.max(claim.held.length, 1) * LANES
    const values = [
      pool.id,
      topic.id,
      topic.settings.partitions,
      Math.max(LEAST_RANGE, Math.ceil((4 * limit) / ranges)),
      limit,
      numberArray(claim.held.map(({ partition }) => partition)),
      numberArray(claim.held.map(({ epoch }) => epoch)),
      poolResource(name),
      claim.owner,
      name,
      pool.mode === 'each',
    ]
    faults.at('move.before-commit')
    const [row] = await connections.query('move', values, MOVE)
    faults.at('move.after-commit')
    const latenessMs = row?.['lateness_ms'] as number[]
    if (latenessMs.length > 0) this.#parts.hint({ kind: 'appended', topic: topicName })
    const held = new Set(row?.['held'] as number[])
    const claimed = claim.held.map(({ partition }) => partition)
    return {
      count: latenessMs.length,
      now: row?.['now'] as number,
      latenessMs,
      nextDueAt: row?.['next_due_at'] as number | null,
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }
}
