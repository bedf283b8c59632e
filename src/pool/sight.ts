// What a worker says of itself to those who watch: how busy it is, what waits, and where a key is. Looks only when asked.
import type { Clock } from '../clock.ts'
import type { StoreTime } from '../store-time.ts'
import type { TakenRun } from './entry.ts'
import type { Hold } from './hold.ts'
import type { LaneHold } from './lane-hold.ts'
import type { Limiter } from './limiter.ts'
import type { Paused } from './control.ts'
import { LANES, type Lane } from './entry.ts'
import type { Flight } from './run.ts'
import type { Solitude } from './solitude.ts'
import type { AloneRun, HeldRun, KeySight, LaneBacklog, ReachedLimit, WorkerSight } from './work-meter.ts'

export interface SightParts {
  concurrency: number
  clock: Clock
  time: StoreTime
  hold(): Hold
  limiter(): Limiter
  /** When a pulse told that the first run is due; null: none told. */
  heardDueAt(): number | null
  solitude: Solitude
  /** The runs whose handlers have not ended. */
  running(): ReadonlySet<Flight>
  isFailing(): boolean
}

interface Unstarted {
  count: number
  /** When the first of them was due; Infinity: there are none. */
  dueAt: number
  /** The same of those that were passed over because of one of their key. */
  passedOver: number
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

  get isBehind(): boolean {
    return this.#parts.hold().lanes.some(({ cursor }) => cursor.isBehind)
  }

  get isSteered(): boolean {
    return this.#parts.limiter().isKnown
  }

  get paused(): Paused | null {
    return this.#parts.limiter().paused
  }

  get reached(): ReachedLimit | null {
    return this.mayTake ? this.#parts.limiter().reached : null
  }

  get alone(): AloneRun | null {
    return this.#parts.solitude.holder
  }

  get heardDueAt(): number | null {
    return this.#parts.heardDueAt()
  }

  holds(partition: number): boolean {
    return this.#parts.hold().holds(partition)
  }

  now(): number {
    return this.#parts.time.now()
  }

  backlog(): LaneBacklog[] {
    const { groups } = this.#parts.limiter()
    const unstarted = this.#unstarted()
    return this.#parts.hold().lanes.map((hold) => {
      const { lane, left, isCut } = hold
      const { count, dueAt, passedOver } = unstarted[lane]
      const passed = Math.min(passedOver, groups.passedOver(lane))
      const oldestDueAt = Math.min(dueAt, left.dueAt, passed)
      return {
        lane,
        waiting: count + left.count,
        isMore: isCut || passed < Infinity || this.#isUnread(hold),
        oldestDueAt: oldestDueAt === Infinity ? null : oldestDueAt,
      }
    })
  }

  /** What is in flight and not started, whether it waits for a handler, behind its key, aside or for its mark. */
  #unstarted(): Record<Lane, Unstarted> {
    const found = Object.fromEntries(
      LANES.map((lane) => [lane, { count: 0, dueAt: Infinity, passedOver: Infinity }]),
    ) as Record<Lane, Unstarted>
    const add = ({ lane, taken }: Flight): void => {
      const of = found[lane]
      of.count += 1
      of.dueAt = Math.min(of.dueAt, taken.dueAt)
    }
    for (const { item, behind, passedOver } of this.#parts.hold().inFlight.all()) {
      if (item.context === null) add(item)
      behind.forEach(add)
      const of = found[item.lane]
      if (passedOver !== null) of.passedOver = Math.min(of.passedOver, passedOver)
    }
    return found
  }

  /** Something is told to be due, and no take is made: enough waits already, or nothing may start. */
  #isUnread({ cursor, waiting }: LaneHold): boolean {
    if (cursor.wakeAt > this.now()) return false
    return waiting.size > 0 || this.#parts.limiter().why() !== null
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
