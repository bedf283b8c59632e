// headrace(options): opens the store, builds the services, one start(), one stop().
import { type Clock, systemClock } from './clock.ts'
import { type Duration, toMs } from './duration.ts'
import { type Faults, noFaults } from './fault.ts'
import { poolResource } from './fence.ts'
import { Gate } from './gate.ts'
import { refuseOtherRetention, refuseOtherTopic } from './log/refuse.ts'
import { Retention } from './log/retention.ts'
import { Topic } from './log/topic.ts'
import { createMembership } from './membership.ts'
import { Meter } from './meter/meter.ts'
import { type Options, type OptionsInput, resolveOptions } from './options.ts'
import { checkChoice, checkName, checkPartitions } from './check.ts'
import { MODES, type Mode } from './pool/entry.ts'
import { Pool } from './pool/pool.ts'
import { refuseOtherResource } from './roster/refuse.ts'
import { refuseOtherDestination, refuseOtherRemember, refuseOtherSettings } from './pool/settings.ts'
import { type Tick, Ticks } from './pool/ticks.ts'
import type { PulseLoop } from './pulse.ts'
import { type LockOptions, type Lock, Locks } from './roster/locks.ts'
import type { Ownership } from './roster/ownership.ts'
import type { Roster } from './roster/roster.ts'
import { Service, type ServiceState } from './service.ts'
import type { Store } from './store.ts'
import { openStore } from './stores/open.ts'
import { type Telemetry, createTelemetry } from './telemetry.ts'

export interface PoolOptions {
  partitions?: number
  mode?: Mode
  /** How long fired slots are remembered, in mode `each`; unless said, as long as the store says. */
  remember?: Duration
}

export interface TopicOptions {
  partitions?: number
  /** How long events are kept; unless said, what the option `retention` says, else the store. */
  retention?: Duration
}

export interface TicksOptions extends PoolOptions {
  /** The topic that due ticks move to; the pool's name unless said. */
  topic?: string
}

/** What is handed in from outside: by tests and the simulator, never by configuration. */
export interface Surroundings {
  clock?: Clock
  faults?: Faults
  /** A store that is open already, as several members of one process share it. */
  store?: Store
}

/** Opens the store and answers a running-ready Headrace; nothing moves before `start()`. */
export async function headrace(given: OptionsInput = {}, surroundings: Surroundings = {}): Promise<Headrace> {
  const options = resolveOptions(given, process.env)
  const clock = surroundings.clock ?? systemClock
  const telemetry = createTelemetry(clock.id())
  const faults = surroundings.faults ?? noFaults
  const store = surroundings.store ?? (await openStore(options.store, { clock, telemetry, faults }))
  return new Headrace({ options, clock, telemetry, store })
}

interface HeadraceParts {
  options: Options
  clock: Clock
  telemetry: Telemetry
  store: Store
}

export class Headrace {
  readonly options: Options
  readonly store: Store
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly meter: Meter
  readonly #pools = new Map<string, Pool>()
  readonly #topics = new Map<string, Topic>()
  readonly #ticks = new Map<string, Ticks>()
  /** Who is there, who leads, and what is this member's. */
  readonly roster: Roster
  readonly #locks: Locks
  readonly #pulse: PulseLoop
  readonly #retention: Retention
  readonly #gate = new Gate()
  readonly #service: Service
  /** Ticks that come now start at once; those that came before wait for `start()`. */
  #isLive = false
  #unwatch: () => void = () => undefined

  constructor(parts: HeadraceParts) {
    this.options = parts.options
    this.store = parts.store
    this.clock = parts.clock
    this.telemetry = parts.telemetry
    this.meter = new Meter(parts.telemetry, parts.clock)
    const { roster, pulse } = createMembership({
      ...parts,
      health: () => Object.fromEntries(this.services().map(({ name, state }) => [name, state])),
      pools: () => [...this.#ticks.values()].flatMap((ticks) => ticks.asked),
      notice: (told, sent) => this.#ticks.forEach((ticks) => ticks.notice(told, sent)),
    })
    this.roster = roster
    this.#pulse = pulse
    this.#locks = new Locks(parts)
    this.#retention = new Retention({ log: parts.store.log, clock: parts.clock, telemetry: parts.telemetry })
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
  pool(name: string, options: PoolOptions = {}): Pool {
    const existing = this.#pools.get(name)
    const settings = {
      name: checkName(name, 'pool'),
      mode: checkChoice(options.mode ?? existing?.settings.mode ?? 'one', MODES, {
        name: `the mode of the pool ${name}`,
        code: 'invalid_options',
      }),
      partitions: checkPartitions(
        options.partitions ?? existing?.settings.partitions ?? this.options.partitions,
        `the pool ${name}`,
      ),
      rememberMs: options.remember === undefined ? null : toMs(options.remember),
    }
    if (existing !== undefined) {
      refuseOtherSettings(existing.settings, settings)
      refuseOtherRemember(existing.settings, settings)
      return existing
    }
    const pool = new Pool({
      settings,
      store: this.store.pool,
      clock: this.clock,
      telemetry: this.telemetry,
      gate: this.#gate,
    })
    this.#pools.set(name, pool)
    return pool
  }

  /** A topic by name; the same name gives the same topic, and refuses other settings. */
  topic<Value = unknown>(name: string, options: TopicOptions = {}): Topic<Value> {
    const existing = this.#topics.get(name)
    const known = existing?.settings ?? {
      partitions: this.options.partitions,
      retentionMs: this.options.retention,
    }
    const settings = {
      name: checkName(name, 'topic'),
      partitions: checkPartitions(options.partitions ?? known.partitions, `the topic ${name}`),
      retentionMs: options.retention === undefined ? known.retentionMs : toMs(options.retention),
    }
    if (existing !== undefined) {
      refuseOtherTopic(existing.settings, settings)
      refuseOtherRetention(existing.settings, settings)
      return existing as Topic<Value>
    }
    const topic = new Topic<Value>({
      settings,
      store: this.store.log,
      clock: this.clock,
      telemetry: this.telemetry,
      gate: this.#gate,
    })
    this.#topics.set(name, topic)
    return topic
  }

  /** A pool of ticks, whose due entries move to a topic from `start()` on. The same name refuses other settings. */
  ticks<Payload = unknown>(name = 'ticks', options: TicksOptions = {}): Ticks<Payload> {
    const existing = this.#ticks.get(name)
    if (existing !== undefined) {
      this.pool(name, options)
      refuseOtherDestination(existing, options.topic)
      return existing as Ticks<Payload>
    }
    const ticks = new Ticks<Payload>({
      pool: this.pool(name, { ...options, mode: options.mode ?? 'each' }),
      topic: this.#topicOfTicks(options.topic ?? name, options),
      store: this.store,
      ownership: this.#share(poolResource(name), this.pool(name).settings.partitions),
      clock: this.clock,
      telemetry: this.telemetry,
    })
    this.#ticks.set(name, ticks)
    if (this.#isLive) void ticks.service.start()
    return ticks
  }

  /** Partitions of something of your own, shared out among the members that ask for it. */
  own(name: string, options: { partitions?: number } = {}): Ownership {
    const partitions = options.partitions ?? this.options.partitions
    return this.#share(
      `own/${checkName(name, 'resource')}`,
      checkPartitions(partitions, `the resource ${name}`),
    )
  }

  #share(name: string, partitions: number): Ownership {
    const ownership = this.roster.share({ name, partitions })
    refuseOtherResource(ownership.resource, { name, partitions })
    return ownership
  }

  /** A named lock that one member holds at a time, renewed until it is released; null: another holds it. */
  async lock(name: string, options: LockOptions = {}): Promise<Lock | null> {
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

  /** Opens what is known by now, and lets due ticks move. When it fails it may be called again. */
  start(): Promise<void> {
    return this.#service.start()
  }

  /** Stops taking, lets what is under way end, gives back locks, and closes the store. */
  async stop(): Promise<void> {
    try {
      await this.#service.stop()
    } finally {
      await this.#locks.close()
      await this.#gate.close()
      await this.store.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #services(): Service[] {
    return [
      ...(this.options.join === 'yes' ? [this.roster.service] : []),
      this.#pulse.service,
      this.#retention.service,
      ...[...this.#ticks.values()].map((ticks) => ticks.service),
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
  }

  async #stop(): Promise<void> {
    this.#isLive = false
    this.#unwatch()
    for (const service of this.#services().reverse()) await service.stop()
    this.meter.close()
  }
}
