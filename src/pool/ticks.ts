// Ticks: a pool whose runs are "append to the topic". Moves due entries to the topic, unless the pool is paused, and
// sleeps until the next one is due; hints and the pulse bring the alarm forward. Failures are tried again; a refused
// pool or topic ends the loop.
import { Alarm } from '../alarm.ts'
import type { Clock } from '../clock.ts'
import { isRefused } from '../errors.ts'
import type { Faults } from '../fault.ts'
import { poolResource } from '../fence.ts'
import type { Topic } from '../log/topic.ts'
import { RetryDelay } from '../retry-delay.ts'
import type { Ownership } from '../roster/ownership.ts'
import { Service } from '../service.ts'
import { StoreTime } from '../store-time.ts'
import type { Hint, Moved, Pulse, Store } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import { PauseWatch } from './pause-watch.ts'
import type { Pool } from './pool.ts'
import type { TickMeters, TicksSight } from './work-meter.ts'

/** What a tick's event holds. */
export interface Tick<Payload = unknown> {
  item: string
  /** RFC 3339. */
  at: string
  payload?: Payload
}

export interface TicksParts {
  pool: Pool
  topic: Topic
  store: Store
  /** Which partitions of the pool are this member's. */
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  meter: TickMeters
  faults: Faults
}

/** The most ticks that one transaction moves: about 10 ms of work, so that posts do not wait long behind it. */
const MOVE_LIMIT = 1000

/**
 * The shortest time between two moves that found less than a full batch. Without it a steady stream of due
 * ticks costs one commit each; with it at most 200 commits a second, for 5 ms of lateness.
 */
const GATHER_MS = 5

/** A pool whose due entries become events of a topic: what `race.ticks(name)` answers. */
export class Ticks<Payload = unknown> {
  readonly pool: Pool
  readonly topic: Topic<Tick<Payload>>
  readonly service: Service
  readonly #parts: TicksParts
  readonly #alarm: Alarm
  readonly #time: StoreTime
  readonly #paused: PauseWatch
  readonly #stop = new AbortController()
  #isOpen = false
  #heardDueAt: number | null = null
  #unwatch: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(parts: TicksParts) {
    this.pool = parts.pool
    this.topic = parts.topic as Topic<Tick<Payload>>
    this.#parts = parts
    this.#alarm = new Alarm(parts.clock)
    this.#time = new StoreTime(parts.clock)
    this.#paused = new PauseWatch({
      pool: parts.pool.name,
      control: parts.store.pool.control,
      time: this.#time,
      telemetry: parts.telemetry,
    })
    parts.pool.becomeTicks()
    parts.meter.watchTicks(parts.pool.name, () => this.#sight())
    this.service = new Service({
      name: `ticks ${parts.pool.name}`,
      start: () => this.#start(),
      stop: () => this.#end(),
    })
  }

  #sight(): TicksSight {
    const isSteered = this.#paused.isKnown && this.#parts.ownership.claim().held.length > 0
    const paused = isSteered ? this.#paused.paused : null
    return { isSteered, paused, heardDueAt: this.#heardDueAt, now: this.#time.now() }
  }

  /** What it asks of the next pulse. */
  get asked(): { pool: string; partitions: number[] }[] {
    const { held } = this.#parts.ownership.claim()
    if (!this.#isOpen || held.length === 0) return []
    return [{ pool: this.pool.name, partitions: held.map(({ partition }) => partition) }]
  }

  /** Tells what a pulse that was sent then saw, in case a hint was lost. */
  notice(pulse: Pulse, sentAt: number): void {
    this.#time.hear(pulse.now, sentAt)
    const nextDueAt = pulse.nextDueAt.get(this.pool.name)
    this.#heardDueAt = nextDueAt ?? null
    if (typeof nextDueAt === 'number') this.#alarm.wakeBy(this.#time.toOwn(nextDueAt))
    if (this.#paused.notice(pulse.controls.get(this.pool.name))) this.#alarm.wakeBy(this.#parts.clock.now())
  }

  async #start(): Promise<void> {
    const { store, ownership, clock } = this.#parts
    const unwatch = [
      store.watch((hint) => this.#hear(hint)),
      ownership.watch(() => this.#alarm.wakeBy(clock.now())),
    ]
    this.#unwatch = () => unwatch.forEach((stop) => stop())
    this.#loop = this.#run(this.#stop.signal)
  }

  async #end(): Promise<void> {
    this.#unwatch()
    this.#stop.abort()
    await this.#loop
  }

  #hear(hint: Hint): void {
    const { clock } = this.#parts
    if (hint.kind === 'foreign') this.#alarm.wakeBy(clock.now())
    else if (hint.kind === 'put' && hint.pool === this.pool.name)
      this.#alarm.wakeBy(this.#time.toOwn(hint.dueAt))
    else if (hint.kind === 'control' && hint.pool === this.pool.name) {
      this.#paused.hear()
      this.#alarm.wakeBy(clock.now())
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, telemetry } = this.#parts
    const pool = this.pool.name
    const delay = new RetryDelay(clock)
    while (!signal.aborted) {
      this.#alarm.reset()
      try {
        if (!this.#isOpen) await this.#open()
        const nextDueAt = await this.#move()
        delay.reset()
        const wakeAt = nextDueAt === null ? null : this.#time.toOwn(nextDueAt)
        await this.#alarm.sleepUntil(wakeAt, GATHER_MS, signal)
      } catch (error) {
        if (!this.#isOpen && isRefused(error)) {
          telemetry.emit('ticks.failed', { pool, error, retryInMs: null })
          this.service.fail()
          return
        }
        telemetry.emit('ticks.failed', { pool, error, retryInMs: delay.nextMs })
        await delay.wait(signal)
      }
    }
  }

  async #open(): Promise<void> {
    await this.pool.open()
    await this.topic.open()
    this.#isOpen = true
  }

  /** Moves until less than a full batch was due; answers when there may be more to move. */
  async #move(): Promise<number | null> {
    const { clock, telemetry, ownership } = this.#parts
    for (;;) {
      if (ownership.claim().held.length === 0) return null
      const pausedUntil = await this.#paused.endsAt()
      if (pausedUntil !== null) return pausedUntil
      const began = clock.mono()
      const moved = await this.#moveOnce()
      if (moved === null) return null
      if (moved.count > 0) {
        telemetry.emit('ticks.moved', {
          pool: this.pool.name,
          topic: this.topic.name,
          latenessMs: moved.latenessMs,
          tookMs: clock.mono() - began,
        })
      }
      if (moved.count < MOVE_LIMIT || this.#stop.signal.aborted) return moved.nextDueAt
    }
  }

  /** Null: nothing is this member's to move. */
  #moveOnce(): Promise<Moved | null> {
    const { store, ownership, telemetry, faults, clock } = this.#parts
    return ownership.use(async (claim) => {
      if (claim.held.length === 0) return null
      faults.at('move.after-claim')
      const request = { pool: this.pool.name, topic: this.topic.name, limit: MOVE_LIMIT, claim }
      const sentAt = clock.now()
      const moved = await store.mover.move(request)
      this.#time.hear(moved.now, sentAt)
      if (moved.refused.length > 0) {
        ownership.lose(claim, moved.refused)
        const resource = poolResource(this.pool.name)
        telemetry.emit('fence.refused', { resource, partitions: moved.refused.length })
      }
      return moved
    })
  }
}
