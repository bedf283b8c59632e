// A worker: takes due runs of the partitions that this member owns, as many as it can start, has a handler do them, and
// settles them. Sleeps until something is due; hints and the pulse bring the alarm forward. Rules of docs/spec/work.md.
import { Alarm } from '../alarm.ts'
import { isRefused } from '../errors.ts'
import { RetryDelay } from '../retry-delay.ts'
import { Service } from '../service.ts'
import { StoreTime } from '../store-time.ts'
import type { AskedPool, Hint, Pulse } from '../store.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { Cancels } from './cancels.ts'
import { Hold } from './hold.ts'
import { Limiter } from './limiter.ts'
import type { Pool } from './pool.ts'
import { Progress } from './progress.ts'
import type { Flight } from './run.ts'
import { Runner } from './runner.ts'
import type { Outcome } from './settle.ts'
import { Settler } from './settler.ts'
import { Sight } from './sight.ts'
import { Solitude } from './solitude.ts'
import { Steps } from './steps.ts'
import type { SettleAnswer } from './store.ts'
import { Suspects, type SuspectsTools } from './suspects.ts'
import { Taker } from './taker.ts'
import type { WorkerParts } from './worker-parts.ts'

/** The shortest time between two looks that found less than was wanted: else a steady stream costs a take for each run. */
const GATHER_MS = 5
/** How long a stop waits for handlers that were aborted, and for the last settles. */
const GRACE_MS = 1000

/** The worker of a pool in this process: what `race.work(pool, handler)` answers. */
export class Worker<Payload = unknown> {
  readonly pool: Pool
  readonly service: Service
  readonly #parts: WorkerParts<Payload>
  readonly #alarm: Alarm
  readonly #time: StoreTime
  /** Whether runs may start: pause and limits. */
  readonly limiter: Limiter
  readonly #hold: Hold
  readonly #taker: Taker
  readonly #runner: Runner<Payload>
  readonly #settler: Settler
  readonly #suspects: Suspects
  readonly #cancels: Cancels
  readonly #stop = new AbortController()
  #unwatch: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()
  #isStarting = false
  #isFailing = false
  /** Whether something was in flight when a pulse was last asked for: it hides what else is due. */
  #isHidden = false

  constructor(parts: WorkerParts<Payload>) {
    const { clock, ownership, pool, store, rules, telemetry } = parts
    this.pool = pool
    this.#parts = parts
    this.#alarm = new Alarm(clock)
    this.#time = new StoreTime(clock)
    const solitude = parts.solitude ?? new Solitude(clock, parts.drainWithinMs)
    const sight = new Sight({
      concurrency: rules.concurrency,
      clock,
      time: this.#time,
      hold: () => this.#hold,
      limiter: () => this.limiter,
      heardDueAt: () => this.#taker.heardDueAt,
      solitude,
      running: () => this.#runner.running,
      isFailing: () => this.#isFailing,
    })
    const steps = new Steps({ pool: pool.name, clock, telemetry, meter: parts.meter.work(pool.name, sight) })
    const shared = { ...parts, steps, pool: pool.name, entries: store.pool.entries, time: this.#time }
    this.limiter = this.#createLimiter(parts)
    this.#hold = new Hold({ ownership, time: this.#time, steps, groups: this.limiter.groups })
    ownership.concurrency = rules.concurrency
    this.#taker = new Taker({
      ...shared,
      hold: this.#hold,
      concurrency: rules.concurrency,
      running: () => this.#runner.size,
      room: () => this.limiter.room,
      taken: () => this.#taken(),
      stop: this.#stop.signal,
    })
    this.#settler = new Settler({
      ...shared,
      settled: (flights, answers) => {
        flights.forEach((flight, nth) => {
          this.#hold.settled(flight, answers[nth] as SettleAnswer)
          this.#suspects.done(flight)
        })
        this.#goOn()
      },
      letGo: (flight) => this.#letGo(flight),
    })
    this.#runner = new Runner<Payload>({
      ...shared,
      progress: new Progress({ pool: pool.name, store: store.pool.progress, clock }),
      ended: (flight, outcome) => this.#ended(flight, outcome),
      ignored: (flight) => this.#suspects.done(flight),
    })
    this.#suspects = this.#createSuspects({ ...shared, solitude })
    const { browse } = store.pool
    const callers = { hold: this.#hold, suspects: this.#suspects, runner: this.#runner }
    this.#cancels = new Cancels({ ...shared, ...callers, browse, goOn: () => this.#goOn() })
    const name = `work ${pool.name}`
    this.service = new Service({ name, start: () => this.#start(), stop: () => this.#end() })
  }

  #createLimiter(parts: WorkerParts<Payload>): Limiter {
    return new Limiter({
      ...parts,
      pool: this.pool.name,
      control: parts.store.pool.control,
      time: this.#time,
      concurrency: parts.rules.concurrency,
      running: () => this.#runner.running,
      isHungry: () => this.#hold.isHungry(this.#time.now()),
      lookBack: (lane, dueAt) => this.#hold.of(lane).cursor.lookBack(dueAt),
      letGo: () => this.#hold.letGoWaiting(),
      learned: (control) => this.#cancels.follow(control),
      wake: () => this.#goOn(),
    })
  }

  #createSuspects(tools: SuspectsTools): Suspects {
    return new Suspects({
      ...tools,
      running: () => this.#runner.size,
      reserve: (flight) => this.limiter.reserve(flight),
      isOpen: (flight) => this.limiter.isOpenTo(flight),
      start: (flight) => this.limiter.startReserved(flight, this.#startRun),
      settle: (flight, outcome) => this.#settler.add(flight, outcome),
      gone: (flight, nextDueAt) => {
        this.limiter.release(flight)
        this.#hold.settled(flight, { result: 'gone', nextDueAt })
      },
      letGo: (flight) => this.#letGo(flight),
      wake: () => this.#startWaiting(),
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
  ask(): AskedPool[] {
    this.#isHidden = this.#hold.inFlight.size > 0
    // What is to be handed over is worked on until it has ended, and is steered as long. [X24]
    const held = this.#isHidden ? this.#parts.ownership.holding() : this.#parts.ownership.claim().held
    if (!this.pool.isOpen || held.length === 0) return []
    const asked = { pool: this.pool.name, partitions: held.map(({ partition }) => partition) }
    // What is in flight is due, too, and hides what else may be.
    return [this.#isHidden ? { ...asked, from: this.#time.now() } : asked]
  }

  /** Tells what a pulse that was sent then saw, in case a hint was lost. [X10] */
  notice(pulse: Pulse, sentAt: number): void {
    this.#time.hear(pulse.now, sentAt)
    this.limiter.notice(pulse.controls.get(this.pool.name))
    this.#taker.notice(pulse, { isWhole: !this.#isHidden })
    this.#nudge()
  }

  async #start(): Promise<void> {
    const { store, ownership } = this.#parts
    const unwatch = [
      store.watch((hint) => this.#hear(hint)),
      ownership.watch(() => this.#follow()),
      this.pool.watchCancels((name) => this.#cancels.asked(name)),
    ]
    this.#unwatch = () => unwatch.forEach((stop) => stop())
    this.#hold.follow()
    this.#suspects.follow()
    this.#loop = this.#run(this.#stop.signal)
  }

  /** [X17] */
  async #end(): Promise<void> {
    this.#stop.abort()
    await this.#loop
    this.#hold.letGoWaiting()
    await Promise.all([this.#suspects.end(GRACE_MS), this.#runner.idle(this.#parts.drainWithinMs)])
    this.#runner.abort('stop')
    await this.#runner.idle(GRACE_MS)
    await Promise.all([this.#settler.end(GRACE_MS), this.limiter.end(GRACE_MS)])
    this.#unwatch()
    this.#runner.abandon()
    this.#hold.abandon()
    this.#suspects.part()
  }

  #hear(hint: Hint): void {
    if (hint.kind === 'foreign') this.#hold.wakeBy(this.#time.now())
    else if (hint.kind === 'control' && hint.pool === this.pool.name) this.limiter.hear()
    else if (hint.kind === 'put' && hint.pool === this.pool.name) this.#hold.lower(hint.dueAt)
    else return
    this.#nudge()
  }

  /** What is held, or can be trusted, has changed. [X16] */
  #follow(): void {
    this.#hold.follow()
    this.#suspects.follow()
    this.#runner.abort('lost', ({ fence }) => !this.#parts.ownership.maySettle(fence))
    this.#goOn()
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, telemetry } = this.#parts
    const pool = this.pool.name
    const delay = new RetryDelay(clock)
    while (!signal.aborted) {
      this.#alarm.reset()
      try {
        if (!this.pool.isOpen) await unlessAborted(this.pool.open(), signal)
        await unlessAborted(this.limiter.learn(), signal)
        const isMore = this.limiter.isKnown && (await this.#taker.look())
        delay.reset()
        this.#isFailing = false
        const wakeAt = this.#taker.wakeAt()
        const ownTime = wakeAt === Infinity ? null : this.#time.toOwn(wakeAt)
        await this.#alarm.sleepUntil(ownTime, isMore ? 0 : GATHER_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#isFailing = true
        if (!this.pool.isOpen && isRefused(error)) {
          telemetry.emit('work.failed', { pool, error, retryInMs: null })
          this.service.fail()
          return
        }
        telemetry.emit('work.failed', { pool, error, retryInMs: delay.nextMs })
        await delay.wait(signal)
      }
    }
  }

  /** Starts in the next turn: a take that is worth while now is sent before, and answered meanwhile. */
  #taken(): void {
    this.#cancels.taken()
    this.#parts.clock.turn(() => this.#goOn())
  }

  #goOn(): void {
    this.#startWaiting()
    this.#nudge()
  }

  /** Starts what waits, as long as handlers are free. One that ends at once does not call this again. [X5] */
  #startWaiting(): void {
    if (this.#isStarting || this.#stop.signal.aborted || this.#parts.ownership.trustedForMs <= 0) return
    this.#isStarting = true
    try {
      while (this.#mayStart) {
        const flight = this.#hold.next()
        if (flight === null) break
        if (!this.#suspects.holdsBack(flight)) this.limiter.start(flight, this.#startRun)
      }
      this.limiter.follow()
    } finally {
      this.#isStarting = false
    }
  }

  readonly #startRun = (flight: Flight): void => this.#runner.start(flight)

  get #mayStart(): boolean {
    const busy = this.#runner.size + this.#suspects.size
    return busy < this.#parts.rules.concurrency && this.#suspects.mayStart && this.limiter.isOpen()
  }

  #ended(flight: Flight, outcome: Outcome | null): void {
    this.#taker.ended()
    this.limiter.ended(flight)
    if (outcome === null) this.#letGo(flight)
    else this.#settler.add(flight, outcome)
    this.#suspects.ended()
    // One that ended at once is inside the loop that starts others, and whoever began that looks what is next.
    if (!this.#isStarting) this.#goOn()
  }

  #letGo(flight: Flight): void {
    this.limiter.release(flight)
    this.#hold.letGo(flight)
    this.#suspects.done(flight)
    this.#nudge()
  }

  #nudge(): void {
    const wakeAt = this.#taker.wakeAt()
    if (wakeAt < Infinity) this.#alarm.wakeBy(this.#time.toOwn(wakeAt))
  }
}
