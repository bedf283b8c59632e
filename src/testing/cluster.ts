// Several members of one process over one memory store and one virtual clock, each of which can be cut off, paused
// or killed.
import { noFaults } from '../fault.ts'
import { Headrace } from '../headrace.ts'
import { type OptionsInput, resolveOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { openMemoryStore } from '../stores/memory/store.ts'
import { createTelemetry } from '../telemetry.ts'
import { MemberClock } from './member-clock.ts'
import { through } from './through.ts'
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

  /** A member that runs and has ticks, unless it is prepared for something else. */
  async add(
    options: OptionsInput = {},
    prepare: (member: ClusterMember) => void = ({ race }) => void race.ticks(),
  ): Promise<ClusterMember> {
    const member = new ClusterMember(this, options)
    this.members.push(member)
    prepare(member)
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
    const store = through(cluster.store, (_path, call) => this.#call(call))
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
    this.clock.end()
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
