// One life of a member: the product's own code from its start to its stop or death, on a clock of its own and behind a
// store whose calls meet the faults of the run.
import { HeadraceError } from '../../errors.ts'
import { noFaults } from '../../fault.ts'
import { Headrace } from '../../headrace.ts'
import { resolveOptions } from '../../options.ts'
import type { Hint, Store } from '../../store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { MemberClock } from '../../testing/member-clock.ts'
import { through } from '../../testing/through.ts'
import type { VirtualClock } from '../../testing/virtual-clock.ts'
import { Conduct } from './conduct.ts'
import type { Faults } from './faults.ts'
import type { RaceCounts } from './sometimes.ts'
import { POOL, type Swarm } from './swarm.ts'
import type { Trace } from './trace.ts'
import type { Witness } from './witness.ts'

/** A call that is not answered fails after so long, as those of real stores do. */
const CALL_WITHIN_MS = 5000
const START_AGAIN_MS = 200

/** What a life is lived in. */
export interface Scene {
  readonly swarm: Swarm
  readonly clock: VirtualClock
  readonly store: Store
  readonly faults: Faults
  readonly races: RaceCounts
  readonly trace: Trace
  readonly witness: Pick<Witness, 'say'>
  /** The store answers nobody. */
  readonly isDown: boolean
  /** Has the store do one thing after the other. */
  inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /** A call reaches the store. */
  effect(name: string, path: string, call: () => Promise<unknown>): Promise<unknown>
}

export class Life {
  readonly name: string
  readonly race: Headrace
  readonly clock: MemberClock
  readonly #scene: Scene
  readonly #unwatch = new Set<() => void>()
  /** Its calls do not reach the store. */
  isCutOff = false
  isDead = false
  /** Operations that it was asked for, and has not answered. */
  asked = 0
  /** It has started, and was not told to stop. */
  isServing = false

  constructor(scene: Scene, name: string) {
    this.#scene = scene
    this.name = name
    this.clock = new MemberClock(scene.clock)
    const { leaseMs, partitions, mode } = scene.swarm
    const options = resolveOptions({ store: 'memory:', name, lease: leaseMs, partitions })
    const telemetry = createTelemetry(this.clock.id())
    const conduct = new Conduct({
      clock: this.clock,
      leaseMs,
      drainWithinMs: options.drainWithin,
      say: (violation) => scene.witness.say(violation),
    })
    const store = conduct.wrap(through(scene.store, (path, call) => this.#call(path, call)))
    this.race = new Headrace({
      options,
      clock: this.clock,
      telemetry,
      faults: noFaults,
      store: { ...store, watch: (listener) => this.#watch(listener), close: async () => undefined },
    })
    this.race.ticks(POOL, { mode })
    const count = (): void => void (scene.races['a member was declared dead and came back'] += 1)
    this.#unwatch.add(telemetry.on('roster.lost', count))
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
    await this.race.stop().catch(() => undefined)
    this.#end()
  }

  /** SIGKILL. What it has sent is on its way all the same. */
  kill(): void {
    if (!this.isDead) this.#scene.trace.note(this.name, 'dies')
    this.#end()
  }

  #end(): void {
    this.isDead = true
    this.isServing = false
    this.clock.end()
    // Channels of telemetry are the process's, which outlives it here.
    this.race.meter.close()
    for (const unwatch of this.#unwatch) unwatch()
  }

  #watch(listener: (hint: Hint) => void): () => void {
    const { store, faults, clock } = this.#scene
    const unwatch = store.watch((hint) => {
      const fate = faults.hint()
      if (fate === 'lost') return
      clock.timer(fate, () => void this.clock.awake().then(() => listener(hint)))
    })
    this.#unwatch.add(unwatch)
    return () => {
      this.#unwatch.delete(unwatch)
      unwatch()
    }
  }

  /** SIGSTOP, and SIGCONT after a while. */
  pause(ms: number): void {
    this.#scene.trace.note(this.name, `stands still for ${Math.round(ms)} ms`)
    this.clock.pause()
    this.#scene.clock.timer(ms, () => this.clock.resume())
  }

  async #stall(ms: number): Promise<void> {
    this.pause(ms)
    await this.clock.awake()
  }

  async #call(path: string, call: () => Promise<unknown>): Promise<unknown> {
    const { faults, races, trace, clock } = this.#scene
    await this.clock.awake()
    const fate = faults.call()
    if (fate.dies === 'before') this.kill()
    if (fate.stallLeases > 0) await this.#stall(fate.stallLeases * this.#scene.swarm.leaseMs)
    if (this.isDead) return new Promise(() => undefined)
    if (this.isCutOff || this.#scene.isDown || fate.kind === 'refused') {
      races['a call was refused before its effect'] += 1
      trace.note(this.name, `${path} refused`)
      await this.clock.sleep(1)
      throw failure(path)
    }
    await clock.sleep(fate.thereMs)
    if (this.isDead) races['a call took effect after its sender had died'] += 1
    const answer = await this.#scene.inTurn(() => this.#scene.effect(this.name, path, call))
    if (fate.dies === 'after') this.kill()
    if (this.isDead) races['a member died with a call under way'] += 1
    await clock.sleep(fate.kind === 'cut' ? 0 : fate.backMs)
    await this.clock.awake()
    if (fate.kind !== 'cut' && !this.isCutOff) return answer
    races['an answer was lost after its effect'] += 1
    trace.note(this.name, `${path} cut`)
    await this.clock.sleep(this.isCutOff ? CALL_WITHIN_MS : 1)
    throw failure(path)
  }
}

function failure(path: string): HeadraceError {
  return new HeadraceError('store_failed', `${path} failed`, { remedy: 'try again' })
}
