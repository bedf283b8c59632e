// One life of a member: the product's own code from its start to its stop or death, on a clock of its own and behind a
// store whose calls meet the faults of the run.
import { HeadraceError } from '../../errors.ts'
import type { FaultPoint } from '../../fault.ts'
import { Headrace } from '../../headrace.ts'
import { resolveOptions } from '../../options.ts'
import type { Hint, Store } from '../../store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { MemberClock } from '../../testing/member-clock.ts'
import { through } from '../../testing/through.ts'
import type { VirtualClock } from '../../testing/virtual-clock.ts'
import { Conduct } from './conduct.ts'
import type { Fate, Faults } from './faults.ts'
import type { Handlers } from './handlers.ts'
import { JobConduct } from './job-conduct.ts'
import type { Standstill } from './job-suspects.ts'
import type { JobLimits } from './job-limits.ts'
import type { JobWitness } from './job-witness.ts'
import { JOBS } from './jobs.ts'
import { Died, type PointCounts } from './points.ts'
import type { RaceCounts } from './sometimes.ts'
import { POOL, type Swarm, TOPIC } from './swarm.ts'
import type { Trace } from './trace.ts'
import type { Witness } from './witness.ts'

/** A call that is not answered fails after so long, as those of real stores do. */
const CALL_WITHIN_MS = 5000
const START_AGAIN_MS = 200

/**
 * Calls that the product's own stores make again when it is not known whether they took effect, since a repeat finds what
 * the first did or does no harm. Puts are made again by their users, with an id.
 */
const EXACT =
  /^(pool\.entries\.open|pool\.browse\.|log\.(open|read|topic)|roster\.(join|serve|view|drain)|fences\.|arrivals\.fold)/

/** A call that has come to the store. */
export interface Sent {
  life: Life
  path: string
  given: readonly unknown[]
  /** When its sender began with it, and perhaps stood still then. */
  sentAt: number
}

/** What a life is lived in. */
export interface Scene {
  readonly swarm: Swarm
  readonly clock: VirtualClock
  readonly store: Store
  readonly faults: Faults
  readonly races: RaceCounts
  readonly points: PointCounts
  readonly trace: Trace
  readonly witness: Pick<Witness, 'say'>
  readonly jobs: JobWitness
  readonly limits: JobLimits
  readonly storeClock: MemberClock
  readonly handlers: Handlers | null
  /** The store answers nobody. */
  readonly isDown: boolean
  /** A call reaches the store, which does one thing after the other. */
  reach(sent: Sent, call: () => Promise<unknown>): Promise<unknown>
}

export class Life {
  readonly name: string
  readonly race: Headrace
  readonly clock: MemberClock
  readonly #scene: Scene
  readonly #unwatch: (() => void)[]
  readonly #listeners = new Set<(hint: Hint) => void>()
  /** Its calls do not reach the store. */
  isCutOff = false
  isDead = false
  /** It has started, and was not told to stop. */
  isServing = false
  isLeaving = false
  /** When it was told to stop, by its monotonic clock; Infinity: it was not. */
  leavingAt = Infinity
  /** It stood still, or was cut off, some time: it may well be taken for dead. */
  wasStruck = false
  /** Resolves when it is dead. */
  readonly ended: Promise<void>
  #tellEnd: () => void = () => undefined
  /** Pauses and times of being cut off that have not ended; they may overlap. */
  #pauses = 0
  #cuts = 0
  #stuck = (): number => 0
  #hints = 0
  #lastHint = 0

  constructor(scene: Scene, name: string) {
    this.#scene = scene
    this.name = name
    this.ended = new Promise((resolve) => (this.#tellEnd = resolve))
    this.clock = new MemberClock(scene.clock)
    const { leaseMs, partitions, mode, jobs } = scene.swarm
    const drainWithin = jobs?.drainWithinMs ?? '30s'
    const options = resolveOptions({ store: 'memory:', name, lease: leaseMs, partitions, drainWithin })
    const telemetry = createTelemetry(this.clock.id())
    const conduct = new Conduct({
      clock: this.clock,
      leaseMs,
      drainWithinMs: options.drainWithin,
      isLeaving: () => this.isLeaving,
      say: (violation) => scene.witness.say(violation),
    })
    const watched = conduct.wrap(through(scene.store, (path, call, given) => this.#call(path, call, given)))
    const { clock } = this
    const steered = {
      member: {
        name,
        awakeSince: () => clock.awakeSince,
        isTrusted: () => conduct.isTrusted,
        hasLeft: () => conduct.hasLeft,
        isInGeneration: (generation: string) => conduct.isInGeneration(generation),
      },
      aheadMs: () => scene.storeClock.skewMs - clock.skewMs,
      limits: scene.limits,
    }
    const stood = (): Standstill => ({ from: clock.pausedAt, until: clock.awakeSince })
    const parts = { life: this, clock, stood, conduct, witness: scene.jobs, races: scene.races, steered }
    const works = jobs === null ? null : new JobConduct({ ...parts, rules: jobs })
    const store = works?.wrap(watched) ?? watched
    this.race = new Headrace({
      options,
      clock: this.clock,
      telemetry,
      faults: { at: (point) => this.at(point) },
      store: { ...store, watch: (listener) => this.#watch(listener), close: async () => undefined },
    })
    this.race.ticks(POOL, { mode })
    this.race.topic(TOPIC)
    if (works !== null) this.#work(works)
    const count = (): void => void (scene.races['a member was declared dead and came back'] += 1)
    this.#unwatch = [telemetry.on('roster.lost', count), scene.store.watch((hint) => this.#hint(hint))]
  }

  /** Works on jobs, as the run says. */
  #work(conduct: JobConduct): void {
    const { handlers, swarm } = this.#scene
    if (swarm.jobs === null || handlers === null) return
    const { mode, partitions, concurrency, timeoutMs, attempts, firstMs, longestMs } = swarm.jobs
    const pool = this.race.pool(JOBS, { mode, partitions })
    const retry = { attempts, first: firstMs, longest: longestMs }
    const timeout = timeoutMs === null ? {} : { timeout: timeoutMs }
    const worker = this.race.work(pool, handlers.of(this, conduct), { concurrency, retry, ...timeout })
    this.#stuck = () => worker.inFlight - worker.running
  }

  /** How many runs its worker has in flight and does not run, as it counts itself. */
  get stuck(): number {
    return this.#stuck()
  }

  /** The id under which it is in the roster; null: it is not. */
  get member(): string | null {
    return this.race.roster.beat()?.member ?? null
  }

  /** Starts, as often as it takes. */
  async start(): Promise<void> {
    while (!this.isDead) {
      try {
        await this.race.start()
        this.isServing = !this.isDead
        return
      } catch {
        await this.clock.sleep(START_AGAIN_MS)
      }
    }
  }

  /** Leaves as it should. */
  async stop(): Promise<void> {
    this.isServing = false
    this.isLeaving = true
    this.leavingAt = Math.min(this.leavingAt, this.clock.mono())
    await this.race.stop().catch(() => undefined)
    this.#end()
  }

  /** SIGKILL. What it has sent is on its way all the same. */
  kill(): void {
    if (!this.isDead) this.#scene.trace.note(this.name, 'dies')
    this.#end()
  }

  #end(): void {
    if (!this.isDead && !this.isLeaving) this.#scene.limits.died(this.member)
    this.isDead = true
    this.isServing = false
    this.clock.end()
    // Channels of telemetry are the process's, which outlives it here.
    this.race.meter.close()
    for (const unwatch of this.#unwatch) unwatch()
    this.#tellEnd()
  }

  /** It has come to a point between two steps, and may die there; before a commit, so that nothing is done. */
  at(point: FaultPoint): void {
    const { points, faults, trace } = this.#scene
    points[point].reached += 1
    if (this.isDead || !faults.diesAt(point)) return
    points[point].died += 1
    trace.note(this.name, `dies at ${point}`)
    this.#end()
    if (point.endsWith('before-commit')) throw new Died(point)
  }

  #watch(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** A hint is on its way to this member. */
  #hint(hint: Hint): void {
    this.#hints += 1
    const nth = this.#hints
    for (const ms of this.#scene.faults.hint()) {
      if (ms === 0) this.#hear(nth, hint)
      else this.#scene.clock.timer(ms, () => this.#hear(nth, hint))
    }
  }

  #hear(nth: number, hint: Hint): void {
    if (nth < this.#lastHint) this.#scene.races['a hint was overtaken by a later one'] += 1
    this.#lastHint = Math.max(this.#lastHint, nth)
    void this.clock.awake().then(() => this.#listeners.forEach((listener) => listener(hint)))
  }

  /** SIGSTOP, and SIGCONT after a while. */
  pause(ms: number): void {
    this.wasStruck = true
    this.#scene.trace.note(this.name, `stands still for ${Math.round(ms)} ms`)
    this.clock.pause()
    this.#pauses += 1
    this.#scene.clock.timer(ms, () => {
      this.#pauses -= 1
      if (this.#pauses === 0) this.clock.resume()
    })
  }

  /** Its calls do not reach the store for a while. */
  cutOff(ms: number): void {
    this.wasStruck = true
    this.isCutOff = true
    this.#cuts += 1
    this.#scene.clock.timer(ms, () => {
      this.#cuts -= 1
      if (this.#cuts === 0) this.isCutOff = false
    })
  }

  async #stall(ms: number): Promise<void> {
    this.pause(ms)
    await this.clock.awake()
  }

  async #call(path: string, call: () => Promise<unknown>, given: unknown[]): Promise<unknown> {
    const { faults, races, trace } = this.#scene
    await this.clock.awake()
    const sent = { life: this, path, given, sentAt: this.#scene.clock.mono() }
    const fate = faults.call(path)
    if (fate.dies === 'before') this.kill()
    if (fate.stallLeases > 0) await this.#stall(fate.stallLeases * this.#scene.swarm.leaseMs)
    if (this.isDead) return new Promise(() => undefined)
    if (this.isCutOff || this.#scene.isDown || fate.kind === 'refused') {
      races['a call was refused before its effect'] += 1
      trace.note(this.name, `${path} refused`)
      await this.clock.sleep(1)
      throw failure(path)
    }
    const answer = await this.#reach(sent, call, fate)
    if (fate.kind !== 'cut' && !this.isCutOff) return answer
    races['an answer was lost after its effect'] += 1
    trace.note(this.name, `${path} cut`)
    const isLost = this.isCutOff || this.#scene.isDown
    if (!isLost && fate.againInMs !== null && EXACT.test(path)) {
      races['a call was made again after its answer was lost'] += 1
      await this.clock.sleep(fate.againInMs)
      return this.#reach(sent, call, fate)
    }
    await this.clock.sleep(this.isCutOff ? CALL_WITHIN_MS : 1)
    throw failure(path)
  }

  /** On the way there, the effect, and on the way back. The dead hear no answer. */
  async #reach(sent: Sent, call: () => Promise<unknown>, fate: Fate): Promise<unknown> {
    const { races, clock } = this.#scene
    if (fate.thereMs > 0) await clock.sleep(fate.thereMs)
    if (this.isDead) races['a call took effect after its sender had died'] += 1
    try {
      return await this.#scene.reach(sent, call)
    } finally {
      if (fate.dies === 'after') this.kill()
      if (this.isDead) races['a member died with a call under way'] += 1
      if (fate.backMs > 0) await clock.sleep(fate.backMs)
      await this.clock.awake()
    }
  }
}

function failure(path: string): HeadraceError {
  return new HeadraceError('store_failed', `${path} failed`, { remedy: 'try again' })
}
