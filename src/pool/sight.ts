// What a worker says of itself to those who watch: how busy it is, what waits, and where a key is. Looks only when asked.
import type { Clock } from '../clock.ts'
import type { StoreTime } from '../store-time.ts'
import type { TakenRun } from './entry.ts'
import type { Hold } from './hold.ts'
import type { Limiter } from './limiter.ts'
import type { Flight } from './run.ts'
import type { HeldRun, KeySight, LaneBacklog, WorkerSight } from './work-meter.ts'

export interface SightParts {
  concurrency: number
  clock: Clock
  time: StoreTime
  hold(): Hold
  limiter(): Limiter
  /** The runs whose handlers have not ended. */
  running(): ReadonlySet<Flight>
  isFailing(): boolean
}

export class Sight implements WorkerSight {
  readonly #parts: SightParts

  constructor(parts: SightParts) {
    this.#parts = parts
  }

  get concurrency(): number {
    return this.#parts.concurrency
  }

  get running(): number {
    return this.#parts.running().size
  }

  get inFlight(): number {
    return this.#parts.hold().inFlight.size
  }

  get mayTake(): boolean {
    return this.#parts.hold().mayTake
  }

  get isFailing(): boolean {
    return this.#parts.isFailing()
  }

  holds(partition: number): boolean {
    return this.#parts.hold().holds(partition)
  }

  now(): number {
    return this.#parts.time.now()
  }

  backlog(): LaneBacklog[] {
    return this.#parts.hold().lanes.map(({ lane, waiting, isCut }) => {
      const oldestDueAt = waiting.reduce((least, { taken }) => Math.min(least, taken.dueAt), Infinity)
      return {
        lane,
        waiting: waiting.length,
        isMore: isCut,
        oldestDueAt: waiting.length === 0 ? null : oldestDueAt,
      }
    })
  }

  heldBack(run: Pick<TakenRun, 'group' | 'partition'>): HeldRun | null {
    return this.#parts.limiter().holds(run)
  }

  sight(key: string): KeySight | null {
    const [flight] = this.#parts.hold().inFlight.ofKey(key)
    if (flight === undefined) return null
    if (flight.context === null) return this.#seen('waiting', flight)
    return this.#parts.running().has(flight) ? this.#seen('running', flight) : SETTLING
  }

  #seen(phase: 'waiting' | 'running', { taken, takenAt, startedAt, context }: Flight): KeySight {
    const since = phase === 'running' ? startedAt : takenAt
    return {
      phase,
      slot: taken.slot,
      attempt: taken.attempt + 1,
      forMs: this.#parts.clock.mono() - since,
      aborted: context?.why ?? null,
    }
  }
}

/** Its handler has ended, and the store has not answered yet; which of its runs it was is not kept. */
const SETTLING: KeySight = { phase: 'settling', slot: null, attempt: 0, forMs: 0, aborted: null }
