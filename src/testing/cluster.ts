// Several members of one process over one memory store and one virtual clock, each of which can be cut off, paused
// or killed.
import type { Clock } from '../clock.ts'
import { noFaults } from '../fault.ts'
import { Headrace } from '../headrace.ts'
import { type OptionsInput, resolveOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { openMemoryStore } from '../stores/memory/store.ts'
import { createTelemetry } from '../telemetry.ts'
import { VirtualClock } from './virtual-clock.ts'

export class Cluster {
  readonly clock = new VirtualClock()
  readonly store: Store = openMemoryStore({
    clock: this.clock,
    telemetry: createTelemetry('store'),
    faults: noFaults,
  })
  readonly members: ClusterMember[] = []
  /** The store answers nobody. */
  isDown = false

  /** A member that runs and has ticks. */
  async add(options: OptionsInput = {}): Promise<ClusterMember> {
    const member = new ClusterMember(this, options)
    this.members.push(member)
    member.race.ticks()
    await member.race.start()
    await this.clock.advance(0)
    return member
  }

  /** Who owns each partition of the ticks, by name. */
  async owners(): Promise<(string | null)[]> {
    const { allotments, members } = await this.store.roster.view()
    const owners: (string | null)[] = Array.from({ length: 32 }, () => null)
    for (const { partition, owner } of allotments) {
      owners[partition] = members.find(({ id }) => id === owner)?.name ?? null
    }
    return owners
  }

  async stop(): Promise<void> {
    this.isDown = false
    for (const member of this.members) {
      member.isCut = false
      if (!member.isGone) await member.race.stop()
    }
  }
}

export class ClusterMember {
  readonly race: Headrace
  readonly clock: MemberClock
  readonly #cluster: Cluster
  /** Its calls do not reach the store. */
  isCut = false
  /** Its calls reach the store, and their answers do not come back. */
  isMute = false
  isGone = false

  constructor(cluster: Cluster, given: OptionsInput) {
    this.#cluster = cluster
    this.clock = new MemberClock(cluster.clock)
    const options = resolveOptions({ store: 'memory:', name: `m${cluster.members.length + 1}`, ...given })
    const telemetry = createTelemetry(this.clock.id())
    const store = this.#through(cluster.store) as Store
    this.race = new Headrace({
      options,
      clock: this.clock,
      telemetry,
      faults: noFaults,
      store: { ...store, close: async () => undefined },
    })
  }

  get name(): string {
    return this.race.options.name ?? ''
  }

  /** What it believes to hold of the ticks. */
  held(): number[] {
    const { held } = this.race.roster.share({ name: 'pool/ticks', partitions: 32 }).claim()
    return held.map(({ partition }) => partition)
  }

  /** Nothing of it goes on, until it is resumed. */
  pause(): void {
    this.clock.pause()
  }

  resume(): void {
    this.clock.resume()
  }

  /** Nothing of it ever goes on. */
  kill(): void {
    this.isGone = true
    this.clock.pause()
  }

  /** The same ports, with every call under this member's faults. */
  #through(port: object): object {
    const entries = Object.entries(Object.getOwnPropertyDescriptors(port)).map(([name]) => name)
    const names = new Set([...entries, ...methodsOf(port)])
    return Object.fromEntries([...names].map((name) => [name, this.#wrap(port, name)]))
  }

  #wrap(port: object, name: string): unknown {
    const value: unknown = Reflect.get(port, name)
    if (typeof value === 'object' && value !== null) return this.#through(value)
    if (typeof value !== 'function') return value
    if (name === 'watch') return value.bind(port) as unknown
    return (...given: unknown[]) => this.#call(() => Reflect.apply(value, port, given) as Promise<unknown>)
  }

  async #call(call: () => Promise<unknown>): Promise<unknown> {
    await this.clock.awake()
    if (this.isCut || this.#cluster.isDown) {
      await this.clock.sleep(1)
      throw new Error('connection refused')
    }
    const answer = await call()
    await this.clock.awake()
    if (this.isMute) await new Promise(() => undefined)
    return answer
  }
}

function methodsOf(port: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(port)
  if (prototype === null || prototype === Object.prototype) return []
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor')
}

/** A member's view of time: its wall clock may be off, its monotonic clock may stand, and it may be paused. */
export class MemberClock implements Clock {
  readonly #base: VirtualClock
  #held: (() => void)[] | null = null
  /** How far its wall clock is off. */
  skewMs = 0
  /** How much the monotonic clock has missed, as while a machine sleeps. */
  sleptMs = 0

  constructor(base: VirtualClock) {
    this.#base = base
  }

  now(): number {
    return this.#base.now() + this.skewMs
  }

  mono(): number {
    return this.#base.mono() - this.sleptMs
  }

  timer(delayMs: number, call: () => void): ReturnType<Clock['timer']> {
    let cancelled = false
    const timer = this.#base.timer(delayMs, () => this.#run(() => cancelled || call()))
    return {
      cancel: () => {
        cancelled = true
        timer.cancel()
      },
    }
  }

  turn(call: () => void): void {
    this.#base.turn(() => this.#run(call))
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(delayMs, signal).then(() => this.awake())
  }

  loopMs(): { idle: number; active: number } {
    return this.#base.loopMs()
  }

  random(): number {
    return this.#base.random()
  }

  id(): string {
    return this.#base.id()
  }

  /** Resolves at once, or when the member goes on. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.#run(resolve))
  }

  pause(): void {
    this.#held ??= []
  }

  resume(): void {
    const held = this.#held ?? []
    this.#held = null
    for (const call of held) call()
  }

  #run(call: () => void): void {
    if (this.#held === null) call()
    else this.#held.push(call)
  }
}
