// headrace(options): opens the store, builds the services, one start(), one stop().
import { type Clock, systemClock } from './clock.ts'
import {
  type PoolOptions,
  type TicksOptions,
  type TopicOptions,
  poolSettings,
  ticksOptions,
  topicSettings,
} from './pool-options.ts'
import { type Faults, noFaults } from './fault.ts'
import { poolResource } from './fence.ts'
import { Gate } from './gate.ts'
import { refuseOtherRetention, refuseOtherTopic } from './log/refuse.ts'
import { Retention } from './log/retention.ts'
import { Topic } from './log/topic.ts'
import { type MembershipParts, createMembership } from './membership.ts'
import { Meter } from './meter/meter.ts'
import { type Options, type OptionsInput, resolveOptions } from './options.ts'
import { type Moment, checkKey, checkMoment, checkName, checkPartitions } from './check.ts'
import { checkOptions, optionTable, refuseSurplus } from './check-options.ts'
import { Folding, askedWith } from './pool/folding.ts'
import { Pool } from './pool/pool.ts'
import { refuseOtherResource } from './roster/refuse.ts'
import { refuseOtherDestination, refuseOtherRemember, refuseOtherSettings } from './pool/settings.ts'
import type { Handler } from './pool/run.ts'
import { type Tick, Ticks } from './pool/ticks.ts'
import { type WorkOptions, workRules } from './pool/work-options.ts'
import type { Worker } from './pool/worker.ts'
import { Works, refuseNoHandler, refuseNoPool, refuseTaken } from './pool/works.ts'
import type { PulseLoop, PulseOutcome } from './pulse.ts'
import { startReport } from './report.ts'
import { type LockOptions, type Lock, Locks } from './roster/locks.ts'
import type { Ownership } from './roster/ownership.ts'
import type { Roster } from './roster/roster.ts'
import { Service, type ServiceState } from './service.ts'
import { OpenServers } from './open-servers.ts'
import { Signals } from './signals.ts'
import type { Store } from './store.ts'
import { openStore } from './stores/open.ts'
import type { Overrides } from './overrides.ts'
import { type Telemetry, createTelemetry } from './telemetry.ts'
import { type WhyAnswer, answerWhy, gatherEvidence } from './why.ts'

const OWN = optionTable<{ partitions?: number }>('a resource', { partitions: null })
const WHY = optionTable<{ at?: Moment }>('why', { at: 'moment' })

/** Opens the store and answers a running-ready Headrace; nothing moves before `start()`. */
export async function headrace(given: OptionsInput = {}, overrides: Overrides = {}): Promise<Headrace> {
  const options = resolveOptions(given, process.env)
  const clock = overrides.clock ?? systemClock
  const telemetry = createTelemetry(clock.id())
  const faults = overrides.faults ?? noFaults
  const stopReport = startReport({
    telemetry,
    clock,
    log: options.log,
    print: overrides.print ?? printLine,
  })
  try {
    const store = overrides.store ?? (await openStore(options.store, { clock, telemetry, faults }))
    const signals = new Signals({ asked: options.signals, clock, telemetry })
    return new Headrace({ options, clock, telemetry, faults, store, stopReport, signals })
  } catch (error) {
    stopReport()
    throw error
  }
}

interface HeadraceParts extends Pick<MembershipParts, 'options' | 'clock' | 'telemetry' | 'store'> {
  faults: Faults
  /** Ends what `log` asked for; a race that was not made by `headrace()` reports nothing. */
  stopReport?: () => void
  /** Those of the process; the simulator has many races in one, and none listens. */
  signals?: Signals
}

/** With the console, which survives a stderr that was closed. */
function printLine(line: string): void {
  // oxlint-disable-next-line no-console
  console.error(`headrace: ${line}`)
}

/** A running member: pools, topics, workers, locks, and one `start()` and `stop()` for all of them. Made by `headrace()`. */
export class Headrace {
  readonly options: Options
  readonly store: Store
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly meter: Meter
  readonly #faults: Faults
  readonly #pools = new Map<string, Pool>()
  readonly #topics = new Map<string, Topic>()
  readonly #ticks = new Map<string, Ticks>()
  readonly #works: Works
  /** Who is there, who leads, and what is this member's. */
  readonly roster: Roster
  /** What serves it, and is closed by `stop()` before all else. */
  readonly openServers: OpenServers
  readonly #locks: Locks
  readonly #pulse: PulseLoop
  readonly #retention: Retention
  /** Null: the store takes no part in users' own transactions. */
  readonly #folding: Folding | null
  readonly #gate = new Gate()
  readonly #service: Service
  /** Ticks that come now start at once; those that came before wait for `start()`. */
  #isLive = false
  #unwatch: () => void = () => undefined
  readonly #stopReport: () => void
  readonly #signals: Signals | null

  constructor(parts: HeadraceParts) {
    this.options = parts.options
    this.store = parts.store
    this.clock = parts.clock
    this.telemetry = parts.telemetry
    this.#faults = parts.faults
    this.#signals = parts.signals ?? null
    this.#stopReport = parts.stopReport ?? (() => undefined)
    this.meter = new Meter(parts.telemetry, parts.clock)
    const { roster, pulse } = createMembership({
      ...parts,
      health: () => Object.fromEntries(this.services().map(({ name, state }) => [name, state])),
      pools: () => askedWith(this.#folding, [...this.#ticks.values(), this.#works]),
      notice: (told, sent) => {
        this.#ticks.forEach((ticks) => ticks.notice(told, sent.wall))
        this.#works.notice(told, sent.wall)
        this.#folding?.notice(told, sent.wall)
      },
    })
    this.roster = roster
    this.openServers = new OpenServers((address) => roster.reachAt(address))
    this.#pulse = pulse
    this.#locks = new Locks(parts)
    this.#works = new Works({ ...parts, meter: this.meter, drainWithinMs: parts.options.drainWithin })
    const { arrivals } = parts.store
    this.#folding = arrivals === null ? null : new Folding({ ...parts, arrivals })
    this.#retention = new Retention({ ...parts, ...parts.store.pool, log: parts.store.log })
    this.#service = new Service({ name: 'headrace', start: () => this.#start(), stop: () => this.#stop() })
  }

  /** A random id of this running member. */
  get member(): string {
    return this.telemetry.member
  }

  get state(): ServiceState {
    return this.#service.state
  }

  /** A pool by name; the same name gives the same pool, and refuses other settings. */
  pool<Payload = unknown>(name: string, options: PoolOptions = {}): Pool<Payload> {
    refuseSurplus(arguments.length, { form: 'race.pool(name, options)', takes: 2 })
    return this.#pool(name, options) as Pool<Payload>
  }

  #pool(name: string, options: PoolOptions): Pool {
    const existing = this.#pools.get(name)
    const known = existing?.settings ?? { partitions: this.options.partitions }
    const settings = poolSettings(name, options, known)
    if (existing !== undefined) {
      refuseOtherSettings(existing.settings, settings)
      refuseOtherRemember(existing.settings, settings)
      return existing
    }
    const { clock, telemetry, store } = this
    const { arrivals } = store
    const pool = new Pool({ settings, store: store.pool, arrivals, clock, telemetry, gate: this.#gate })
    this.#pools.set(name, pool)
    return pool
  }

  /** The pool of this name, if it was asked for here. */
  known(name: string): Pool | null {
    return this.#pools.get(name) ?? null
  }

  /** A topic by name; the same name gives the same topic, and refuses other settings. */
  topic<Value = unknown>(name: string, options: TopicOptions = {}): Topic<Value> {
    refuseSurplus(arguments.length, { form: 'race.topic(name, options)', takes: 2 })
    const existing = this.#topics.get(name)
    const { partitions, retention: retentionMs } = this.options
    const known = existing?.settings ?? { partitions, retentionMs }
    const settings = topicSettings(name, options, known)
    if (existing !== undefined) {
      refuseOtherTopic(existing.settings, settings)
      refuseOtherRetention(existing.settings, settings)
      return existing as Topic<Value>
    }
    const { clock, telemetry } = this
    const { log, arrivals } = this.store
    const topic = new Topic<Value>({ settings, store: log, arrivals, clock, telemetry, gate: this.#gate })
    this.#topics.set(name, topic)
    return topic
  }

  /** A pool of ticks, whose due entries move to a topic from `start()` on. The same name refuses other settings. */
  ticks<Payload = unknown>(name = 'ticks', options: TicksOptions = {}): Ticks<Payload> {
    refuseSurplus(arguments.length, { form: 'race.ticks(name, options)', takes: 2 })
    const { topic, pool: asked } = ticksOptions(options)
    const existing = this.#ticks.get(name)
    if (existing !== undefined) {
      this.pool(name, asked)
      refuseOtherDestination(existing, topic)
      return existing as Ticks<Payload>
    }
    this.#works.refuse(name)
    const pool = this.pool(name, { ...asked, mode: asked.mode ?? 'each' })
    const shared = { store: this.store, clock: this.clock, telemetry: this.telemetry, meter: this.meter }
    const ticks = new Ticks<Payload>({
      ...shared,
      pool,
      topic: this.#topicOfTicks(topic ?? name, options),
      ownership: this.#serve(pool),
      faults: this.#faults,
    })
    this.#ticks.set(name, ticks)
    if (this.#isLive) void ticks.service.start()
    return ticks
  }

  /** Has a handler do the due runs of a pool, from `start()` on; one worker for each pool. */
  work<Payload = unknown>(
    worked: Pool<Payload> | Pool,
    handler: Handler<Payload>,
    options: WorkOptions = {},
  ): Worker<Payload> {
    refuseSurplus(arguments.length, { form: 'race.work(pool, handler, options)', takes: 3 })
    refuseNoPool(worked, { of: 'a worker', call: 'race.work(POOL, async (run) => { … })' })
    const pool = worked as Pool
    if (this.#ticks.has(pool.name)) throw refuseTaken(pool.name, 'ticks')
    this.#works.refuseIdle(pool, this.#pools.get(pool.name), this.options.join)
    const rules = workRules(options)
    refuseNoHandler(handler)
    const worker = this.#works.add({ pool, handler, rules, ownership: this.#serve(pool) })
    if (this.#isLive) void worker.service.start()
    return worker
  }

  /** Why a key does not run yet, as far as this process knows: who owns its partition knows most. [I8] */
  async why<Payload>(asked: Pool<Payload>, key: string, options: { at?: Moment } = {}): Promise<WhyAnswer> {
    refuseSurplus(arguments.length, { form: 'race.why(pool, key, options)', takes: 3 })
    checkOptions(options, WHY)
    refuseNoPool(asked, { of: 'why', call: 'race.why(POOL, key)' })
    const { at } = options
    const pool = asked as Pool
    const entry = { pool: pool.name, key: checkKey(key), at: at === undefined ? null : checkMoment(at) }
    await pool.open()
    return this.#gate.pass(async () => answerWhy(await gatherEvidence(this, entry, pool)))
  }

  /** Partitions of something of your own, shared out among the members that ask for it. */
  own(name: string, options: { partitions?: number } = {}): Ownership {
    refuseSurplus(arguments.length, { form: 'race.own(name, options)', takes: 2 })
    checkOptions(options, OWN)
    const partitions = checkPartitions(options.partitions ?? this.options.partitions, `the resource ${name}`)
    return this.#share(`own/${checkName(name, 'resource')}`, partitions)
  }

  /** Takes part in the work of a pool, and in folding what arrives for it. Who only puts must own nothing of it. */
  #serve(pool: Pool): Ownership {
    const ownership = this.#share(poolResource(pool.name), pool.settings.partitions)
    this.#folding?.add(pool, ownership)
    return ownership
  }

  #share(name: string, partitions: number): Ownership {
    const ownership = this.roster.share({ name, partitions })
    refuseOtherResource(ownership.resource, { name, partitions })
    return ownership
  }

  /** A named lock that one member holds at a time, renewed until it is released; null: another holds it. */
  async lock(name: string, options: LockOptions = {}): Promise<Lock | null> {
    refuseSurplus(arguments.length, { form: 'race.lock(name, options)', takes: 2 })
    return this.#gate.pass(() => this.#locks.take(checkName(name, 'lock'), options))
  }

  /** A topic that is known keeps its number of partitions, which need not be that of the pool. */
  #topicOfTicks(name: string, { partitions }: TicksOptions): Topic<Tick> {
    const isNew = partitions !== undefined && !this.#topics.has(name)
    return this.topic<Tick>(name, isNew ? { partitions } : {})
  }

  /** Every service and its state. */
  services(): { name: string; state: ServiceState }[] {
    return this.#services().map(({ name, state }) => ({ name, state }))
  }

  /** How long ago the store last answered a pulse. */
  get pulseAgeMs(): number {
    return this.#pulse.ageMs
  }

  /** How the last pulse went; null before the first. */
  get pulseOutcome(): PulseOutcome | null {
    return this.#pulse.outcome
  }

  /** Opens what is known by now, and lets due ticks move. When it fails it may be called again. */
  start(): Promise<void> {
    return this.#service.start()
  }

  /** Closes what serves it, stops taking, lets what is under way end, gives back locks, and closes the store. */
  async stop(): Promise<void> {
    const served = this.openServers.close()
    try {
      await this.#service.stop()
    } finally {
      await served
      // A start that failed may have joined.
      await this.roster.service.stop()
      await this.#locks.close()
      await this.#gate.close()
      await this.store.close()
      this.#signals?.close()
      this.#stopReport()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #services(): Service[] {
    // Stopped from the last to the first: who leaves goes on to beat.
    return [
      this.#pulse.service,
      ...(this.options.join === 'yes' ? [this.roster.service] : []),
      this.#retention.service,
      ...(this.#folding === null ? [] : [this.#folding.service]),
      ...[...this.#ticks.values()].map((ticks) => ticks.service),
      ...this.#works.services,
    ]
  }

  async #start(): Promise<void> {
    this.meter.listen()
    try {
      for (const pool of this.#pools.values()) await pool.open()
      for (const topic of this.#topics.values()) await topic.open()
      if (this.options.join === 'yes') await this.roster.service.start()
      await this.#pulse.service.start()
    } catch (error) {
      this.meter.close()
      throw error
    }
    // What can fail is behind: a start that failed left nothing running, so that it can be repeated.
    this.#isLive = true
    this.#unwatch = this.store.watch((hint) => {
      if (hint.kind === 'roster') this.#pulse.soon()
    })
    for (const service of this.#services()) await service.start()
    this.#signals?.listen({ stop: () => this.stop(), pools: () => this.#works.pools })
  }

  async #stop(): Promise<void> {
    this.#isLive = false
    this.#unwatch()
    // Side by side: each may take all the time that a drain has.
    await Promise.all([this.openServers.close(), ...this.#works.services.map((service) => service.stop())])
    for (const service of this.#services().reverse()) await service.stop()
    this.meter.close()
  }
}
