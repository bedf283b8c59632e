// A worker: takes due runs of the partitions that this member owns, as many as it can start, has a handler do them, and
// settles them. Sleeps until something is due; hints and the pulse bring the alarm forward. Rules of docs/spec/work.md.
import { Alarm } from '../alarm.ts'
import type { Clock } from '../clock.ts'
import { isRefused } from '../errors.ts'
import { Pause } from '../pause.ts'
import type { Ownership } from '../roster/ownership.ts'
import { Service } from '../service.ts'
import { StoreTime } from '../store-time.ts'
import type { Hint, Pulse, Store } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { Hold, type LaneHold, limitOf } from './hold.ts'
import type { CancelledName, Pool } from './pool.ts'
import { Progress } from './progress.ts'
import type { Flight, Handler } from './run.ts'
import { Runner } from './runner.ts'
import type { Outcome } from './settle.ts'
import { Settler } from './settler.ts'
import type { SettleAnswer } from './store.ts'
import type { WorkRules } from './work-options.ts'

export interface WorkerParts<Payload> {
  pool: Pool
  handler: Handler<Payload>
  rules: WorkRules
  store: Pick<Store, 'pool' | 'watch'>
  /** Which partitions of the pool are this member's. */
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  /** How long a stop lets handlers end by themselves. */
  drainWithinMs: number
}

/** The most runs that wait for a handler, in each lane. */
const MOST_AHEAD = 1000
/** The most runs that wait for the answer to their settle, beside those that run. */
const MOST_UNSETTLED = 4000
/** The shortest time between two looks that found less than was wanted: else a steady stream costs a take for each run. */
const GATHER_MS = 5
/** How long a stop waits for handlers that were aborted, and for the last settles. */
const GRACE_MS = 1000

export class Worker<Payload = unknown> {
  readonly pool: Pool
  readonly service: Service
  readonly #parts: WorkerParts<Payload>
  readonly #alarm: Alarm
  readonly #time: StoreTime
  readonly #hold: Hold
  readonly #runner: Runner<Payload>
  readonly #settler: Settler
  readonly #stop = new AbortController()
  #unwatch: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()
  /** How many handlers have ended since the last look: as many and more can be started before the next. */
  #endedSinceLook = 0
  #ahead = 0
  #isStarting = false

  constructor(parts: WorkerParts<Payload>) {
    const { clock, ownership, pool, store } = parts
    this.pool = pool
    this.#parts = parts
    this.#alarm = new Alarm(clock)
    this.#time = new StoreTime(clock)
    this.#hold = new Hold(ownership, this.#time)
    this.#settler = new Settler({
      ...parts,
      pool: pool.name,
      entries: store.pool.entries,
      settled: (ended, answers) => {
        for (const [nth, { flight }] of ended.entries())
          this.#hold.settled(flight, answers[nth] as SettleAnswer)
        this.#startWaiting()
        this.#nudge()
      },
      letGo: (flight) => this.#letGo(flight),
    })
    this.#runner = new Runner<Payload>({
      ...parts,
      pool: pool.name,
      time: this.#time,
      progress: new Progress({ pool: pool.name, store: store.pool.progress, clock }),
      ended: (flight, outcome) => this.#ended(flight, outcome),
    })
    this.service = new Service({
      name: `work ${pool.name}`,
      start: () => this.#start(),
      stop: () => this.#end(),
    })
  }

  /** How many handlers run right now. */
  get running(): number {
    return this.#runner.size
  }

  /** How many keys are in flight: taken, and neither settled nor let go. */
  get inFlight(): number {
    return this.#hold.inFlight.size
  }

  /** What it asks of the next pulse. */
  get asked(): { pool: string; partitions: number[] }[] {
    const { held } = this.#parts.ownership.claim()
    if (!this.pool.isOpen || held.length === 0) return []
    return [{ pool: this.pool.name, partitions: held.map(({ partition }) => partition) }]
  }

  /** Tells what a pulse that was sent then saw, in case a hint was lost. [X10] */
  notice(pulse: Pulse, sentAt: number): void {
    this.#time.hear(pulse.now, sentAt)
    const dueAt = pulse.nextDueAt.get(this.pool.name)
    if (typeof dueAt !== 'number') return
    // What is in flight is due, too, and hides what else may be: then a sweep looks for that.
    if (dueAt > pulse.now) this.#hold.wakeBy(dueAt)
    else if (this.#hold.inFlight.size === 0) this.#hold.lower(dueAt)
    else for (const { cursor } of this.#hold.lanes) if (cursor.sweeps(pulse.now)) cursor.wakeBy(pulse.now)
    this.#nudge()
  }

  async #start(): Promise<void> {
    const { store, ownership } = this.#parts
    const unwatch = [
      store.watch((hint) => this.#hear(hint)),
      ownership.watch(() => this.#follow()),
      this.pool.watchCancels((name) => this.#cancelling(name)),
    ]
    this.#unwatch = () => unwatch.forEach((stop) => stop())
    this.#hold.follow()
    this.#loop = this.#run(this.#stop.signal)
  }

  /** [X17] */
  async #end(): Promise<void> {
    this.#stop.abort()
    await this.#loop
    this.#hold.letGoWaiting()
    await this.#runner.idle(this.#parts.drainWithinMs)
    this.#runner.abort('stop')
    await this.#runner.idle(GRACE_MS)
    await this.#settler.end(GRACE_MS)
    this.#unwatch()
    this.#runner.abandon()
    this.#hold.abandon()
  }

  #hear(hint: Hint): void {
    if (hint.kind === 'foreign') this.#hold.wakeBy(this.#time.now())
    else if (hint.kind === 'put' && hint.pool === this.pool.name) this.#hold.lower(hint.dueAt)
    else return
    this.#nudge()
  }

  /** [X24] */
  #cancelling(name: CancelledName): () => void {
    const cancelled = this.#hold.cancelling(name)
    return () => {
      const flight = cancelled()
      if (flight !== null) this.#runner.abort('cancel', (each) => each === flight)
      this.#startWaiting()
      this.#nudge()
    }
  }

  /** What is held, or can be trusted, has changed. [X16] */
  #follow(): void {
    this.#hold.follow()
    this.#runner.abort('lost', ({ fence }) => !this.#parts.ownership.maySettle(fence))
    this.#startWaiting()
    this.#nudge()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, telemetry } = this.#parts
    const pool = this.pool.name
    const pause = new Pause(clock)
    while (!signal.aborted) {
      this.#alarm.reset()
      try {
        if (!this.pool.isOpen) await unlessAborted(this.pool.open(), signal)
        const isMore = await this.#look()
        pause.reset()
        const wakeAt = this.#wakeAt()
        const ownTime = wakeAt === Infinity ? null : this.#time.toOwn(wakeAt)
        await this.#alarm.sleepUntil(ownTime, isMore ? 0 : GATHER_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!this.pool.isOpen && isRefused(error)) {
          telemetry.emit('work.failed', { pool, error, retryInMs: null })
          this.service.fail()
          return
        }
        telemetry.emit('work.failed', { pool, error, retryInMs: pause.nextMs })
        await pause.wait(signal)
      }
    }
  }

  /** Takes in every lane of which something may be due; true: more is due than was taken. */
  async #look(): Promise<boolean> {
    const now = this.#time.now()
    this.#ahead = Math.max(this.#soon, Math.floor(this.#ahead / 2))
    const wanting = this.#hold.lanes.filter((hold) => hold.cursor.wakeAt <= now && this.#wants(hold) > 0)
    if (wanting.length === 0) return false
    this.#endedSinceLook = 0
    // All are waited for, also if one fails: a lane has one take under way.
    const taken = await Promise.allSettled(wanting.map((hold) => this.#take(hold)))
    const failed = taken.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return taken.some((each) => each.status === 'fulfilled' && each.value)
  }

  /** How many can be started before the next look, going by those that have ended since the last. */
  get #soon(): number {
    return Math.min(2 * this.#endedSinceLook, MOST_AHEAD)
  }

  /** How many more runs of a lane can be started now, or soon. [X1] */
  #wants({ waiting }: LaneHold): number {
    const { concurrency } = this.#parts.rules
    const ahead = Math.max(this.#ahead, this.#soon)
    // One at least, also while all handlers are busy: a lane of which nothing waits would not have its turn. [X6]
    const free = Math.max(1, concurrency - this.#runner.size + ahead)
    const room = concurrency + MOST_UNSETTLED - this.#hold.inFlight.size
    const wanted = Math.min(free - waiting.length, room)
    // Half of it at least: fewer are not worth a call, as long as others wait.
    return waiting.length > 0 && wanted * 2 < free ? 0 : wanted
  }

  #take(hold: LaneHold): Promise<boolean> {
    const { ownership, store, clock } = this.#parts
    return ownership.use(async (claim) => {
      if (claim.held.length === 0) return false
      const { inFlight } = this.#hold
      const take = inFlight.beginTake()
      const from = hold.cursor.begin(this.#time.now())
      const limit = limitOf(hold, from, this.#wants(hold))
      const partitions = claim.held.map(({ partition }) => partition)
      const sentAt = clock.now()
      try {
        const request = { partitions, lane: hold.lane, from, limit }
        const call = store.pool.entries.take(this.pool.name, request)
        // A stop does not wait for it, nor a hand-over: nothing of its answer would start.
        const taken = await unlessAborted(call, this.#stop.signal)
        this.#time.hear(taken.now, sentAt)
        const admitted = this.#hold.admit(hold, taken, { claim, limit })
        this.#startWaiting()
        return admitted > 0 && taken.runs.length >= limit
      } catch (error) {
        hold.cursor.fail()
        throw error
      } finally {
        inFlight.endTake(take)
      }
    })
  }

  /** Starts what waits, as long as handlers are free. One that ends at once does not call this again. [X5] */
  #startWaiting(): void {
    if (this.#isStarting || this.#stop.signal.aborted || this.#parts.ownership.trustedForMs <= 0) return
    this.#isStarting = true
    try {
      while (this.#runner.size < this.#parts.rules.concurrency) {
        const flight = this.#hold.next()
        if (flight === null) break
        this.#runner.start(flight)
      }
    } finally {
      this.#isStarting = false
    }
  }

  #ended(flight: Flight, outcome: Outcome | null): void {
    this.#endedSinceLook += 1
    if (outcome === null) this.#letGo(flight)
    else this.#settler.add(flight, outcome)
    // One that ended at once is inside the loop that starts others, and whoever began that looks what is next.
    if (this.#isStarting) return
    this.#startWaiting()
    this.#nudge()
  }

  #letGo(flight: Flight): void {
    this.#hold.letGo(flight)
    this.#nudge()
  }

  #wakeAt(): number {
    return this.#hold.wakeAt((hold) => this.#wants(hold) > 0)
  }

  #nudge(): void {
    const wakeAt = this.#wakeAt()
    if (wakeAt < Infinity) this.#alarm.wakeBy(this.#time.toOwn(wakeAt))
  }
}
