// Due entries become events in one statement.
import { poolResource } from '../../fence.ts'
import { LANES } from '../../pool/entry.ts'
import type { Hint, MoveRequest, Moved, Mover, StoreContext } from '../../store.ts'
import { textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { DueWatermarks, Found } from './due-watermarks.ts'
import { claimColumns } from './fences.ts'
import { type HeldEntry, PassedOver } from './passed-over.ts'
import type { KnownPool, Pools } from './pools.ts'
import type { Sweeps } from './sweeps.ts'
import type { KnownTopic, Topics } from './topics.ts'

export interface PostgresMoverParts extends Pick<StoreContext, 'faults' | 'clock'> {
  connections: Connections
  pools: Pools
  topics: Topics
  watermarks: DueWatermarks
  sweeps: Sweeps
  hint(hint: Hint): void
}

/** A lost answer only loses the answer: the next move goes on. */
const MOVE: Call = { operation: 'commit', timeoutMs: 1000, again: 'undone' }

/** How many rows of one range are looked at, at least. */
const LEAST_RANGE = 128
/** How long a move waits until it is known from where it may read. */
const SWEEP_WITHIN_MS = 500
/** By how much a move may be smaller than asked for, after some that took too long. */
const MOST_SHRUNK = 64

export class PostgresMover implements Mover {
  readonly #parts: PostgresMoverParts
  /** By the number of the pool. */
  readonly #passedOver = new Map<number, PassedOver>()
  #shrunk = 1

  constructor(parts: PostgresMoverParts) {
    this.#parts = parts
  }

  async move(request: MoveRequest): Promise<Moved> {
    const { pools, topics } = this.#parts
    const pool = pools.of(request.pool)
    const topic = await topics.of(request.topic)
    const claimed = request.claim.held.map(({ partition }) => partition)
    const row = await this.#run(pool, claimed, this.#valuesOf(request, pool, topic))
    const latenessMs = row['lateness_ms'] as number[]
    if (latenessMs.length > 0) this.#parts.hint({ kind: 'appended', topic: request.topic })
    const held = new Set(row['held'] as number[])
    return {
      count: latenessMs.length,
      ...foundIn(row),
      latenessMs,
      refused: claimed.filter((partition) => !held.has(partition)),
    }
  }

  #valuesOf({ pool: name, limit, claim }: MoveRequest, pool: KnownPool, topic: KnownTopic): unknown[] {
    const ranges = Math.max(claim.held.length, 1) * LANES.length
    return [
      pool.id,
      ...claimColumns(poolResource(name), claim),
      topic.id,
      topic.settings.partitions,
      Math.ceil(Math.max(LEAST_RANGE, (4 * limit) / ranges) / this.#shrunk),
      Math.ceil(limit / this.#shrunk),
      name,
      pool.mode === 'each',
    ]
  }

  async #run(pool: KnownPool, claimed: readonly number[], values: unknown[]): Promise<Row> {
    const { connections, watermarks, faults } = this.#parts
    const passedOver = this.#passedOverIn(pool)
    const from = await this.#from(pool, claimed)
    const leftOut = passedOver.takeKeys()
    const wait = passedOver.takeWait()
    try {
      faults.at('move.before-commit')
      const asked = [...values, from, textArray(leftOut), wait?.key ?? null, wait?.slot ?? null]
      const [row = {}] = await connections.query('move', asked, MOVE)
      faults.at('move.after-commit')
      this.#shrunk = Math.max(1, this.#shrunk / 2)
      watermarks.afterMove(pool.id, from, row['held'] as number[], foundIn(row))
      passedOver.note(entriesIn(row), row['held_back'] as string[])
      if (leftOut.length === 0) return row
      // What was left out is due all the same.
      watermarks.lower(pool.id, from)
      return { ...row, next_due_at: row['now'] }
    } catch (error) {
      watermarks.lower(pool.id, from)
      // It may have been too much for its time, and the same again would be, too.
      this.#shrunk = Math.min(MOST_SHRUNK, this.#shrunk * 4)
      throw error
    }
  }

  async #from(pool: KnownPool, claimed: readonly number[]): Promise<number | null> {
    const { watermarks, sweeps } = this.#parts
    const from = watermarks.beforeMove(pool.id, claimed)
    if (from !== null) return from
    await sweeps.within(SWEEP_WITHIN_MS, pool, claimed)
    return watermarks.beforeMove(pool.id, claimed)
  }

  #passedOverIn({ id }: KnownPool): PassedOver {
    let passedOver = this.#passedOver.get(id)
    if (passedOver === undefined) this.#passedOver.set(id, (passedOver = new PassedOver(this.#parts.clock)))
    return passedOver
  }
}

function foundIn(row: Row): Found {
  return { now: row['now'] as number, nextDueAt: row['next_due_at'] as number | null }
}

function entriesIn(row: Row): HeldEntry[] {
  const slots = row['passed_slots'] as number[]
  return (row['passed_keys'] as string[]).map((key, index) => ({ key, slot: slots[index] as number }))
}
