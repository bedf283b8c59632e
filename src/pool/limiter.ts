// Whether a worker may start runs now: knows the control of its pool, counts what it starts, and keeps the member's share
// of the limits of the pool. Rules of docs/spec/limits.md; what is shared how is decided in shares.ts.
import type { Timer } from '../clock.ts'
import { type Control, NO_CONTROL, type Paused, pauseAt } from './control.ts'
import { GroupLimits } from './group-limits.ts'
import type { TakenRun } from './entry.ts'
import type { LimiterParts } from './limiter-parts.ts'
import type { Flight } from './run.ts'
import { ShareKeeper } from './share-keeper.ts'
import { SlidingLog } from './sliding-log.ts'
import { type Spaced, opensAt, startedAt } from './spacing.ts'
import { unmarkTicks } from './unmark-ticks.ts'
import type { HeldRun, ReachedLimit } from './work-meter.ts'

/** Why nothing of the pool may start. `pool_full`: as many run as may. */
export type HeldBack = 'paused' | 'pool_full' | 'rate_limited'

/** How long before they can start runs may be taken. */
const AHEAD_MS = 500
const TELL_EVERY_MS = 1000

export class Limiter {
  readonly groups: GroupLimits
  readonly #parts: LimiterParts
  readonly #keeper: ShareKeeper
  #control: Control = NO_CONTROL
  #log: SlidingLog | null = null
  #spaced: Spaced | null = null
  #timer: Timer | null = null
  #timerAt = Infinity
  #isEnded = false
  /** It was seen to that the pool is not marked as one of ticks. Once: if others move ticks of it, they mark it again. [T6] */
  #isClaimed = false
  #starting: Flight | null = null
  /** Runs that are held back until they are marked, or alone: they count as if they had started. [X44] */
  readonly #reserved = new Set<Flight>()
  readonly #toldAt = new Map<HeldBack, number>()

  constructor(parts: LimiterParts) {
    this.#parts = parts
    const { clock } = parts
    this.groups = new GroupLimits({
      mono: () => clock.mono(),
      lookBack: (lane, dueAt) => parts.lookBack(lane, dueAt),
    })
    this.#keeper = new ShareKeeper({
      ...parts,
      used: () => ({ concurrency: this.#underWay, rate: this.#started }),
      changed: (control) => {
        parts.learned(control)
        this.#apply(control)
      },
    })
  }

  /** The pause that holds; null: none does. */
  get paused(): Paused | null {
    return pauseAt(this.#control, this.#parts.time.now())
  }

  /** Whether it is known what steers the pool; what was just learned is not any more, if a doubt has ended meanwhile. */
  get isKnown(): boolean {
    return this.#keeper.isKnown
  }

  /** The limit that keeps something of the pool waiting, or would; null: none does. */
  get reached(): ReachedLimit | null {
    const held = this.#holding(this.groups.held)
    if (held === null) return null
    const { concurrency, rate } = this.#control.limits[held.scope]
    return held.kind === 'concurrency'
      ? { ...held, limit: concurrency, perMs: null }
      : { ...held, limit: rate?.count ?? null, perMs: rate?.perMs ?? null }
  }

  /** Reads what steers the pool, unless that is known. Nothing starts before. [L12] */
  async learn(): Promise<void> {
    if (!this.#isClaimed) await unmarkTicks(this.#parts.control, this.#parts.pool)
    this.#isClaimed = true
    if (!this.#keeper.isKnown) await this.#keeper.learn()
  }

  /** A pulse told this version; undefined: it told none. */
  notice(version: number | undefined): void {
    this.#keeper.notice(version)
  }

  /** Somebody wrote what steers the pool, or may have. */
  hear(): void {
    this.#keeper.hear()
  }

  /** Why no run of the pool may start now; null: one may, if its group may. */
  why(): HeldBack | null {
    const { pool } = this.#control.limits
    if (this.#control.paused !== null && this.paused !== null) return 'paused'
    if (pool.concurrency === null && pool.rate === null) return null
    if (pool.concurrency !== null && this.#underWay >= this.#keeper.caps.concurrency) return 'pool_full'
    return this.#isRateUsed ? 'rate_limited' : null
  }

  /** Of that, what binds: not a share that grows with the next look, or that is enough for all handlers. [I8] */
  get #whyBound(): HeldBack | null {
    const why = this.why()
    if (why === null || why === 'paused') return why
    const isLess = this.#keeper.caps.concurrency < this.#parts.concurrency
    if (why === 'pool_full' && isLess && this.#keeper.isSharedOut('concurrency')) return why
    return this.#isRateUsed && this.#keeper.isSharedOut('rate') ? 'rate_limited' : null
  }

  get #isRateUsed(): boolean {
    if (this.#control.limits.pool.rate === null) return false
    return this.#started >= this.#keeper.caps.rate || this.#spacedUntil() > this.#parts.clock.mono()
  }

  /** When one more may start by the pace of what this member has of a rate that is spread. [L22] */
  #spacedUntil(): number {
    if (this.#control.limits.pool.rate?.spread !== true) return 0
    return opensAt(this.#spaced, { ...this.#pace(), reserved: this.#reserved.size })
  }

  #pace(): { now: number; paceMs: number } {
    const perMs = this.#control.limits.pool.rate?.perMs ?? 0
    return { now: this.#parts.clock.mono(), paceMs: perMs / this.#keeper.caps.rate }
  }

  /** How much of the limits of the pool is used. */
  get #underWay(): number {
    return this.#parts.running().size + this.#reserved.size
  }

  get #started(): number {
    return (this.#log?.used(this.#parts.clock.mono()) ?? 0) + this.#reserved.size
  }

  /** The limit that keeps runs of this group waiting; null: none does. */
  holds(run: Pick<TakenRun, 'group' | 'partition'>): HeldRun | null {
    const held = this.#holding(this.groups.why(run))
    if (held === null) return null
    if (held.kind === 'concurrency') return { ...held, inMs: null }
    const opensAt = held.scope === 'pool' ? this.#opensAt() : this.groups.opensFor(run)
    const inMs = opensAt - this.#parts.clock.mono()
    return { ...held, inMs: inMs > 0 && inMs < Infinity ? inMs : null }
  }

  #holding(ofGroup: HeldBack | null): Omit<HeldRun, 'inMs'> | null {
    const ofPool = this.#whyBound
    const why = ofPool ?? ofGroup
    if (why === null || why === 'paused') return null
    const kind = why === 'pool_full' ? 'concurrency' : 'rate'
    if (ofPool === null) return { kind, scope: 'group', share: null }
    return { kind, scope: 'pool', share: this.#keeper.caps[kind] }
  }

  /** Whether a run may start now, if its group may. */
  isOpen(): boolean {
    if (!this.#keeper.isKnown) return false
    const why = this.why()
    if (why === null) return true
    if (why !== 'paused' && this.#parts.isHungry()) this.#keeper.heldBack()
    const told = this.#whyBound
    if (told !== null) this.#tell(told)
    this.#arm()
    return false
  }

  /** How many runs are worth taking: those that can start now or soon. [L16] */
  get room(): number {
    const { pool } = this.#control.limits
    // Nothing is taken before it is known: the look that wants this learns first.
    if (!this.#keeper.isKnown) return Infinity
    if (this.#control.paused !== null && this.paused !== null) return 0
    const { caps } = this.#keeper
    let room = Infinity
    if (pool.concurrency !== null) room = Math.max(0, 2 * caps.concurrency - this.#underWay)
    if (pool.rate !== null) {
      const soon = Math.ceil(caps.rate * Math.min(1, AHEAD_MS / pool.rate.perMs))
      const now = Math.min(pool.rate.spread === true ? 1 : Infinity, Math.max(0, caps.rate - this.#started))
      room = Math.min(room, now + soon)
    }
    if (room === 0 && this.#parts.isHungry()) this.#keeper.heldBack()
    return room
  }

  /**
   * Starts a run. Its start is noted when the handler was called, however long that took: the next one that it makes room
   * for is called later than a span after it. [L14]
   */
  start(flight: Flight, call: (flight: Flight) => void): void {
    this.#starting = flight
    call(flight)
    this.#starting = null
    this.#log?.add(this.#parts.clock.mono())
    if (this.#control.limits.pool.rate?.spread === true) this.#spaced = startedAt(this.#spaced, this.#pace())
    this.groups.started(flight)
    if (!this.#parts.running().has(flight)) this.ended(flight)
  }

  /** A run is about to start: what it will use is not another's. */
  reserve(flight: Flight): void {
    this.#reserved.add(flight)
    this.groups.reserve(flight)
  }

  /** It starts now, or does not. */
  release(flight: Flight): void {
    if (this.#reserved.delete(flight)) this.groups.release(flight)
  }

  /** Whether what was reserved may start, by what steers the pool now. */
  isOpenTo(flight: Flight): boolean {
    if (!this.#reserved.delete(flight)) return false
    const isOpen = this.isOpen() && this.groups.isOpenTo(flight)
    this.#reserved.add(flight)
    return isOpen
  }

  /** Starts what was reserved; false: others have used meanwhile what a limit left. */
  startReserved(flight: Flight, run: (flight: Flight) => void): boolean {
    this.release(flight)
    if (!this.isOpen() || this.groups.why(flight.taken) !== null) return false
    // A handler that ends at once starts others before its own start is noted. [L14]
    this.reserve(flight)
    this.start(flight, run)
    this.release(flight)
    return true
  }

  ended(flight: Flight): void {
    // It has not been counted yet.
    if (flight === this.#starting) return
    this.groups.ended(flight)
    this.#keeper.ended()
  }

  /** Rings when time alone makes room. */
  #arm(): void {
    const { clock } = this.#parts
    const at = Math.min(this.#opensAt(), this.groups.opensAt)
    // What is past waits for something else than time.
    if (at <= clock.mono() || at >= this.#timerAt || this.#isEnded) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = clock.timer(at - clock.mono(), () => this.#ring(), { background: true })
  }

  #opensAt(): number {
    const { clock, time } = this.#parts
    const { paused } = this
    if (paused !== null) return paused.until === null ? Infinity : clock.mono() + (paused.until - time.now())
    if (this.#log === null) return Infinity
    return Math.max(this.#log.freeAt(this.#keeper.caps.rate), this.#spacedUntil())
  }

  #ring(): void {
    this.#timer = null
    this.#timerAt = Infinity
    this.groups.look()
    this.#parts.wake()
    this.#arm()
  }

  /** Something waits aside: it may be time alone that it waits for. */
  follow(): void {
    this.#arm()
  }

  #apply(control: Control): void {
    const { limits } = control
    const before = this.#control
    this.#control = control
    this.#changeRate(limits.pool.rate?.perMs ?? null)
    if (limits.pool.rate?.spread !== true) this.#spaced = null
    if (JSON.stringify(limits.group) !== JSON.stringify(before.limits.group)) {
      this.groups.change(limits.group, this.#parts.running(), this.#reserved)
    }
    if (this.paused !== null) {
      this.#tell('paused')
      this.#parts.letGo()
    }
    // Other caps, or another pause, may open sooner.
    this.#timer?.cancel()
    this.#timer = null
    this.#timerAt = Infinity
    this.#parts.wake()
    this.#arm()
  }

  /** With another span it counts as if all that it may start had just been started. [L14] */
  #changeRate(perMs: number | null): void {
    if ((this.#log?.perMs ?? null) === perMs) return
    const used = this.#log === null ? 0 : this.#keeper.caps.rate
    this.#log = perMs === null ? null : new SlidingLog(perMs)
    if (used > 0 && used < Infinity) this.#log?.add(this.#parts.clock.mono(), used)
  }

  #tell(why: HeldBack): void {
    const { telemetry, clock, pool } = this.#parts
    const now = clock.mono()
    if (now < (this.#toldAt.get(why) ?? -Infinity) + TELL_EVERY_MS) return
    this.#toldAt.set(why, now)
    telemetry.emit('work.held', { pool, why })
  }

  /** Gives back its share; a store that does not answer is waited for no longer than this. [X17] */
  async end(withinMs: number): Promise<void> {
    this.#isEnded = true
    this.#timer?.cancel()
    const given = new AbortController()
    const end = async (): Promise<void> => {
      try {
        await this.#keeper.end()
      } finally {
        given.abort()
      }
    }
    void end()
    await this.#parts.clock.sleep(withinMs, given.signal)
  }
}
