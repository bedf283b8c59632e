// A store, members on it, and a clock that all of them share: the product's own code in virtual time. Every step on the
// outside, a call, its answer, a hint, a death, goes by the seed, so that a run can be repeated.
import type { FaultPoint } from '../../fault.ts'
import { poolResource } from '../../fence.ts'
import { createRandom } from '../../random.ts'
import type { Store } from '../../store.ts'
import { Snapshots } from '../../stores/memory/snapshots.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { MemberClock } from '../../testing/member-clock.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { Answers } from './answers.ts'
import { LateArrivals } from './arrivals.ts'
import { Faults } from './faults.ts'
import { Handlers } from './handlers.ts'
import { JobLimits } from './job-limits.ts'
import { JobWitness } from './job-witness.ts'
import { JOBS } from './jobs.ts'
import { Life, type Scene, type Sent } from './life.ts'
import { type PointCounts, noPoints } from './points.ts'
import { type RaceCounts, noRaces } from './sometimes.ts'
import { type PlannedFault, type Swarm, TOPIC } from './swarm.ts'
import { Trace } from './trace.ts'
import { Trouble } from './trouble.ts'
import { Users } from './users.ts'
import { Witness } from './witness.ts'

const MOST_MEMBERS = 5
/** How long the place of a dead member stays empty. */
const RESTART_MS = 2000
/** So much of what was asked or answered is told. */
const SHOWN = 300
const MANY = 1_000_000

export class World implements Scene {
  readonly swarm: Swarm
  readonly clock: VirtualClock
  /** The store's own, which jumps. */
  readonly storeClock: MemberClock
  readonly trace: Trace
  readonly faults: Faults
  readonly races: RaceCounts = noRaces()
  readonly points: PointCounts = noPoints()
  readonly witness: Witness
  readonly jobs: JobWitness
  readonly limits: JobLimits
  /** Null: nobody works on jobs. */
  readonly handlers: Handlers | null
  readonly answers: Answers
  readonly arrivals: LateArrivals
  readonly store: Store
  readonly users: Users
  readonly trouble: Trouble
  readonly lives = new Set<Life>()
  #names = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** The call that is just taking effect. */
  #sent: Sent | null = null
  #isHealed = false
  plannedFaults = 0
  /** The most that ran at once. */
  mostMembers = 0
  readonly #snapshots = new Snapshots()

  /** `openStore` is another one than memory only where a test has a broken one. */
  constructor(swarm: Swarm, openStore = openMemoryStore) {
    this.swarm = swarm
    this.clock = new VirtualClock(swarm.seed, { alone: true })
    const { clock, races, lives } = this
    const storeClock = new MemberClock(clock)
    this.storeClock = storeClock
    const random = createRandom(swarm.seed ^ 0x5eed)
    this.trace = new Trace(() => clock.mono())
    this.faults = new Faults(random, swarm)
    this.trouble = new Trouble({ clock, storeClock, races, leaseMs: swarm.leaseMs })
    this.witness = this.#newWitness()
    const faults = { at: (point: FaultPoint) => this.#at(point) }
    const context = { clock: storeClock, telemetry: createTelemetry('store'), faults }
    const opened = openStore(context, this.#snapshots)
    const { witness } = this
    this.jobs = new JobWitness({
      storeClock,
      slowestMs: swarm.jobs?.habits.longestMs ?? 0,
      races,
      fenceOf: (resource, partition) => witness.fenceOf(resource, partition),
      say: (violation) => witness.say(violation),
    })
    this.limits = new JobLimits({
      clock,
      storeClock,
      races,
      epochOf: (partition) => witness.fenceOf(poolResource(JOBS), partition)?.epoch ?? 0,
      say: (violation) => witness.say(violation),
    })
    this.handlers = this.#newHandlers()
    this.answers = new Answers({ storeClock, races })
    this.arrivals = new LateArrivals({
      store: this.answers.wrap(this.jobs.wrap(this.limits.history.wrap(witness.wrap(opened)))),
      clock: storeClock,
      faults,
      mode: swarm.mode,
      partitions: swarm.partitions,
      ownerOf: (resource, partition) => witness.fenceOf(resource, partition)?.owner ?? null,
      folded: ({ late, byNext }) => {
        if (late) races['an arrival was folded late'] += 1
        if (byNext) races['an arrival was folded by the next owner'] += 1
      },
      replaced: (put) => {
        races['an arrival replaced another'] += 1
        this.answers.replaced(put)
      },
    })
    this.store = this.arrivals.wrap()
    const isConnected = (life: Life): boolean => !life.isDead && !life.isCutOff && !this.isDown
    const { arrivals, answers } = this
    const { trace } = this
    this.users = new Users({ clock, storeClock, random, races, trace, arrivals, answers, lives, isConnected })
  }

  #newWitness(): Witness {
    return new Witness({
      clock: this.storeClock,
      races: this.races,
      partitions: this.swarm.partitions,
      isDead: (owner) => this.#lifeOf(owner) === undefined,
      mono: () => this.clock.mono(),
      sentAt: () => this.#sent?.sentAt ?? this.clock.mono(),
      declared: (member) => this.#declared(member),
    })
  }

  #newHandlers(): Handlers | null {
    const { swarm, races, trace } = this
    if (swarm.jobs === null) return null
    const random = createRandom(swarm.seed ^ 0x4a2d1e)
    return new Handlers({ random, races, trace, habits: swarm.jobs.habits })
  }

  get isDown(): boolean {
    return this.trouble.isDown
  }

  /** A member more, under a name of its own. */
  join(): void {
    const life = new Life(this, `m${++this.#names}`)
    this.lives.add(life)
    this.mostMembers = Math.max(this.mostMembers, this.#running().length)
    this.trace.note(life.name, 'starts')
    void life.start()
  }

  #running(): Life[] {
    return [...this.lives].filter(({ isDead }) => !isDead)
  }

  /** A member more, unless others have filled the place. */
  #joinIfFew(): void {
    if (this.#running().length < MOST_MEMBERS) this.join()
  }

  /** One call after the other, so that what is recorded is what happened. */
  reach(sent: Sent, call: () => Promise<unknown>): Promise<unknown> {
    const done = this.#turn.then(() => this.#effect(sent, call))
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #effect(sent: Sent, call: () => Promise<unknown>): Promise<unknown> {
    this.#sent = sent
    try {
      const answer = await call()
      this.trace.note(sent.life.name, `${sent.path} ${shown(sent.given)} → ${shown(answer)}`)
      return answer
    } catch (error) {
      this.trace.note(sent.life.name, `${sent.path} ${shown(sent.given)} threw ${String(error)}`)
      throw error
    } finally {
      this.#sent = null
    }
  }

  /** The store has come to a point in the call of a member. The puts and appends of a fold are steps of the fold. */
  #at(point: FaultPoint): void {
    if (this.#sent === null) return
    const { life, path } = this.#sent
    if (path.startsWith('arrivals.') === point.startsWith('fold.')) life.at(point)
  }

  #lifeOf(member: string): Life | undefined {
    return [...this.lives].find((life) => !life.isDead && life.member === member)
  }

  #declared(member: string): void {
    const life = this.#lifeOf(member)
    if (life === undefined) return
    this.races['a member was declared dead while it lived'] += 1
    const { refused, cut, delayed, stalled } = this.swarm.calls
    const isCalm = refused + cut + delayed + stalled === 0 && !life.wasStruck
    if (this.trouble.declared() && isCalm)
      this.witness.violations.push(`[K5] ${life.name} was declared dead, and was well all the time`)
  }

  strike({ kind, member, ms }: PlannedFault): void {
    const running = this.#running()
    const life = running[member % Math.max(running.length, 1)]
    this.trace.note(life?.name ?? '-', `${kind} ${ms}`)
    this.plannedFaults += 1
    if (kind === 'outage') this.trouble.outage(ms)
    else if (kind === 'store-clock') this.trouble.jump(ms)
    else if (kind === 'go-back') this.#goBackIn(ms)
    else if (kind === 'kill-all') for (const each of running) each.kill()
    else if (kind === 'join') this.#joinIfFew()
    else if (life !== undefined) this.#strikeOne(life, kind, ms)
  }

  /** Takes what the store holds, and brings it back after a while. */
  #goBackIn(ms: number): void {
    this.#between(() => {
      const goBack = this.#snapshot()
      if (goBack !== null) this.clock.timer(ms, () => this.#between(goBack))
    })
  }

  /** Does something between two calls. */
  #between(step: () => void | Promise<void>): void {
    this.#turn = this.#turn.then(step)
  }

  /** Those that watch go back with the store: what it has answered since is forgiven, and nothing else. [G6] */
  #snapshot(): (() => Promise<void>) | null {
    const { witness, jobs, limits, answers, arrivals, users, races, store } = this
    const snapshots = this.#snapshots
    const goBack = snapshots.take()
    if (goBack === null) return null
    const watched = [witness.snapshot(), jobs.snapshot(), answers.snapshot()]
    const goBackArrivals = arrivals.snapshot()
    return async () => {
      const before = await this.#eventIds()
      goBack()
      for (const wentBack of watched) wentBack(snapshots.least)
      goBackArrivals(snapshots.generation)
      limits.wentBack(snapshots.generation, await store.pool.control.read(JOBS))
      const left = await this.#eventIds()
      const lost = [...before].filter((id) => !left.has(id))
      users.lost(lost)
      if (this.#running().length > 0) races['the store went back under living members'] += 1
      if (lost.length > 0) races['the store went back, and what was answered is lost'] += 1
      this.trace.note('-', `went back to ${snapshots.generation}`)
    }
  }

  /** Of all that users have appended, and of what has arrived and is not folded yet. */
  async #eventIds(): Promise<Set<string>> {
    const { log } = this.store
    const topic = (await log.topics()).find(({ name }) => name === TOPIC)
    const from = (topic?.bounds ?? []).map(({ partition }) => ({ partition, offset: 0 }))
    const read =
      topic === undefined ? [] : (await log.read(TOPIC, { from, limit: MANY, maxBytes: Infinity })).events
    return new Set([...read.map(({ id }) => id), ...this.arrivals.eventIds])
  }

  #strikeOne(life: Life, kind: PlannedFault['kind'], ms: number): void {
    if (kind === 'kill') life.kill()
    else if (kind === 'pause') life.pause(ms)
    else if (kind === 'cut-off') life.cutOff(ms)
    else if (kind === 'leave') {
      if (this.lives.size > 1) void life.stop()
    } else {
      if (ms < life.clock.skewMs) this.races['a member’s clock was set back'] += 1
      life.clock.skewMs = ms
      this.limits.clockSetAt = this.clock.mono()
    }
  }

  /** Fills the places of the dead; called now and then, as a supervisor looks. */
  supervise(): void {
    for (const life of this.lives) {
      if (!life.isDead) continue
      this.lives.delete(life)
      if (this.#isHealed) this.#joinIfFew()
      else this.clock.timer(RESTART_MS, () => this.#joinIfFew())
    }
  }

  heal(): void {
    this.#isHealed = true
    this.faults.heal()
    this.trouble.heal()
    this.witness.heal()
    this.jobs.heal()
    this.handlers?.heal()
    for (const life of this.lives) {
      life.isCutOff = false
      if (!life.isDead) life.clock.resume()
    }
    this.trace.note('-', 'healed')
  }
}

/** What was asked or answered in a few words: what differs between runs shows in what follows. */
function shown(value: unknown): string {
  if (value === undefined) return '-'
  if (typeof value === 'object' && value !== null && 'allotments' in value && 'version' in value)
    return `version ${String(value.version)}`
  const text = JSON.stringify(value) ?? '-'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
