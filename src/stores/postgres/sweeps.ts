// Reads everything of some partitions of a pool, from the beginning, to know where moves and pulses may begin: when they
// are new to this process, and every ten minutes should anything be wrong with floors.ts. Never in the beat, which must
// not take long, nor under a claim.
import type { Clock } from '../../clock.ts'
import type { Hint } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections } from './connections.ts'
import type { Floors, Found } from './floors.ts'
import type { KnownPool } from './pools.ts'

export interface SweepsParts {
  connections: Connections
  clock: Clock
  floors: Floors
  hint(hint: Hint): void
}

interface Sweep {
  beganAt: number
  done: Promise<void>
}

const SWEEP: Call = { operation: 'read', timeoutMs: 30_000, again: 'undone' }
const EVERY_MS = 600_000
/** Before every due time. */
const BEGINNING = Number.MIN_SAFE_INTEGER

export class Sweeps {
  readonly #parts: SweepsParts
  /** By the number of the pool. */
  readonly #underWay = new Map<number, Sweep>()
  readonly #sweptAt = new Map<number, number>()

  constructor(parts: SweepsParts) {
    this.#parts = parts
  }

  /** Resolves when one is done, has failed, or has taken longer than that; it goes on then. */
  async within(timeoutMs: number, pool: KnownPool, partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return
    const { clock } = this.#parts
    const { beganAt, done } = this.#begin(pool, partitions)
    const leftMs = beganAt + timeoutMs - clock.mono()
    if (leftMs <= 0) return
    const over = new AbortController()
    await Promise.race([done, clock.sleep(leftMs, over.signal)])
    over.abort()
  }

  /** Begins one, if the last was long ago. */
  look(pool: KnownPool, partitions: readonly number[]): void {
    if (partitions.length === 0) return
    const sweptAt = this.#sweptAt.get(pool.id) ?? -Infinity
    if (this.#parts.clock.mono() - sweptAt >= EVERY_MS) this.#begin(pool, partitions)
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ done }) => done))
  }

  #begin(pool: KnownPool, partitions: readonly number[]): Sweep {
    const known = this.#underWay.get(pool.id)
    if (known !== undefined) return known
    // What fails is begun again by the next move or pulse.
    const done = this.#sweep(pool, partitions)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(pool.id))
    const sweep = { beganAt: this.#parts.clock.mono(), done }
    this.#underWay.set(pool.id, sweep)
    return sweep
  }

  async #sweep({ id, name }: KnownPool, partitions: readonly number[]): Promise<void> {
    const { connections, clock, floors } = this.#parts
    const columns = [id, null, BEGINNING].map((value) =>
      numberArray(partitions.map((partition) => value ?? partition)),
    )
    const [row = {}] = await connections.query('next_dues', columns, SWEEP)
    const [nextDueAt = null] = row['due_times'] as (number | null)[]
    const found: Found = { now: row['now'] as number, nextDueAt }
    this.#sweptAt.set(id, clock.mono())
    floors.afterSweep(id, partitions, found)
    if (nextDueAt !== null) this.#parts.hint({ kind: 'put', pool: name, dueAt: nextDueAt })
  }
}
