// Reads everything of some partitions of a pool, from the beginning, to know where moves and pulses may begin: when they
// are new to this process, and every ten minutes should anything be wrong with due-watermarks.ts. Never in the beat, which must
// not take long, nor under a claim. In pages: one that failed goes on where it ended. [Y16]
import type { Clock } from '../../clock.ts'
import type { Hint } from '../../store.ts'
import { numberArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { wasEnded } from './failure.ts'
import { type DueWatermarks, type Found, LOOK_BACK_MS } from './due-watermarks.ts'
import { PageWidth } from './page-width.ts'
import { type KnownPool, READ } from './pools.ts'

export interface SweepsParts {
  connections: Connections
  clock: Clock
  watermarks: DueWatermarks
  hint(hint: Hint): void
}

interface Sweep {
  beganAt: number
  done: Promise<void>
}

/** How far one has come that did not end. */
interface Begun {
  partitions: ReadonlySet<number>
  /** By the process's own clock. */
  at: number
  from: number
  /** What commits late may be due after this, less what watermarks look back: the server's time at the first page so near to it. */
  sureAt: number
  /** That of the watermarks: what was read in another one counts no more. */
  era: number
}

const SWEEP: Call = { ...READ, again: 'undone' }
/** For how long one that did not end is gone on with, and how many pages one reads at most. */
const RESUME_FOR_MS = 60_000
const MOST_PAGES = 10_000
const EVERY_MS = 600_000
/** Before every due time. */
const BEGINNING = Number.MIN_SAFE_INTEGER

export class Sweeps {
  readonly #parts: SweepsParts
  /** By the number of the pool. */
  readonly #underWay = new Map<number, Sweep>()
  readonly #sweptAt = new Map<number, number>()
  readonly #begun = new Map<number, Begun>()
  readonly #pages = new Map<number, PageWidth>()
  #isClosing = false

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

  /** Begins no further page; resolves when nothing is under way. */
  async settled(): Promise<void> {
    this.#isClosing = true
    await Promise.all([...this.#underWay.values()].map(({ done }) => done))
  }

  #begin(pool: KnownPool, partitions: readonly number[]): Sweep {
    const known = this.#underWay.get(pool.id)
    if (known !== undefined) return known
    // What fails is begun again by the next move or pulse.
    const { id } = pool
    const done = this.#sweep(pool, partitions)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(id))
    const sweep = { beganAt: this.#parts.clock.mono(), done }
    this.#underWay.set(id, sweep)
    return sweep
  }

  async #sweep(pool: KnownPool, partitions: readonly number[]): Promise<void> {
    const { clock, watermarks } = this.#parts
    const { era } = watermarks
    const found = await this.#read(pool, partitions)
    // What was read before the store went back says nothing of what is due since: it is read again.
    if (found === null || era !== watermarks.era) return
    this.#begun.delete(pool.id)
    this.#sweptAt.set(pool.id, clock.mono())
    watermarks.afterSweep(pool.id, partitions, found)
    const { nextDueAt } = found
    if (nextDueAt !== null) this.#parts.hint({ kind: 'put', pool: pool.name, dueAt: nextDueAt })
  }

  /** Page by page, to the first that is due or will be; null: it did not come to its end. */
  async #read(pool: KnownPool, partitions: readonly number[]): Promise<Found | null> {
    const { clock, watermarks } = this.#parts
    const { era } = watermarks
    const pages = this.#pagesOf(pool)
    let { from, sureAt } = this.#resume(pool, partitions)
    let now = await this.#now(pool)
    for (let read = 0; read < MOST_PAGES && !this.#isClosing && era === watermarks.era; read += 1) {
      const end = pages.end(from, now)
      const beganAt = clock.mono()
      let row: Row
      try {
        row = await this.#page([pool.id, numberArray(partitions), from, end], pages.boundMs)
      } catch (error) {
        if (!wasEnded(error)) throw error
        now = await this.#now(pool)
        pages.tooLong(from, end, now)
        continue
      }
      pages.read(from, end, clock.mono() - beganAt)
      now = row['now'] as number
      const nextDueAt = row['next_due_at'] as number | null
      if (end === null || nextDueAt !== null) return { now: Math.min(now, sureAt), nextDueAt }
      from = end
      if (end > now - LOOK_BACK_MS) sureAt = Math.min(sureAt, now)
      this.#begun.set(pool.id, { partitions: new Set(partitions), at: clock.mono(), from, sureAt, era })
    }
    return null
  }

  async #page(values: readonly unknown[], boundMs: number): Promise<Row> {
    return this.#parts.connections.transaction(SWEEP, async (tx) => {
      await tx.query('bound_page', [boundMs])
      const [row = {}] = await tx.query('due_page', values)
      return row
    })
  }

  /** From where it is read: where the last one ended, if that was a short time ago and it read all of these. */
  #resume({ id }: KnownPool, partitions: readonly number[]): Pick<Begun, 'from' | 'sureAt'> {
    const begun = this.#begun.get(id)
    const { clock, watermarks } = this.#parts
    const isFresh =
      begun !== undefined && begun.era === watermarks.era && clock.mono() - begun.at < RESUME_FOR_MS
    if (isFresh && partitions.every((each) => begun.partitions.has(each))) return begun
    return { from: BEGINNING, sureAt: Infinity }
  }

  #pagesOf({ id }: KnownPool): PageWidth {
    let pages = this.#pages.get(id)
    if (pages === undefined) this.#pages.set(id, (pages = new PageWidth()))
    return pages
  }

  async #now({ id }: KnownPool): Promise<number> {
    const [row] = await this.#parts.connections.query('read_clock', [id], READ)
    return row?.['now'] as number
  }
}
