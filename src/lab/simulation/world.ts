// A store, members on it, and a clock that all of them share: the product's own code in virtual time. Every step on the
// outside, a call, its answer, a hint, a death, goes by the seed, so that a run can be repeated.
import { noFaults } from '../../fault.ts'
import { type Random, createRandom } from '../../random.ts'
import type { Store } from '../../store.ts'
import { openMemoryStore } from '../../stores/memory/store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { Faults } from './faults.ts'
import { Life, type Scene } from './life.ts'
import { type RaceCounts, noRaces } from './sometimes.ts'
import { type Operation, POOL, type PlannedFault, type Swarm } from './swarm.ts'
import { Trace } from './trace.ts'
import { Witness } from './witness.ts'

const MOST_MEMBERS = 5
/** How long the place of a dead member stays empty. */
const RESTART_MS = 2000

export class World implements Scene {
  readonly swarm: Swarm
  readonly clock: VirtualClock
  readonly trace: Trace
  readonly faults: Faults
  readonly races: RaceCounts = noRaces()
  readonly witness: Witness
  readonly store: Store
  readonly lives = new Set<Life>()
  readonly #random: Random
  #names = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** The store answers nobody. */
  isDown = false
  #isHealed = false
  /** How many operations were answered. */
  answered = 0
  plannedFaults = 0

  /** `openStore` is another one than memory only where a test has a broken one. */
  constructor(swarm: Swarm, openStore = openMemoryStore) {
    this.swarm = swarm
    this.clock = new VirtualClock(swarm.seed, { alone: true })
    this.#random = createRandom(swarm.seed ^ 0x5eed)
    this.trace = new Trace(() => this.clock.mono())
    this.faults = new Faults(this.#random, swarm.calls)
    this.witness = new Witness({
      clock: this.clock,
      races: this.races,
      partitions: swarm.partitions,
      isDead: (owner) => ![...this.lives].some(({ member }) => member === owner),
    })
    const parts = { clock: this.clock, telemetry: createTelemetry('store'), faults: noFaults }
    this.store = this.witness.wrap(openStore(parts))
  }

  /** A member more, under a name of its own. */
  join(): void {
    const life = new Life(this, `m${++this.#names}`)
    this.lives.add(life)
    this.trace.note(life.name, 'starts')
    void life.start()
  }

  /** Has the store do one thing after the other, so that what is recorded is what happened. */
  inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  /** A call reaches the store. */
  async effect(name: string, path: string, call: () => Promise<unknown>): Promise<unknown> {
    try {
      const answer = await call()
      this.trace.note(name, `${path} → ${shown(answer)}`)
      return answer
    } catch (error) {
      this.trace.note(name, `${path} threw ${String(error)}`)
      throw error
    }
  }

  async operate(operation: Operation): Promise<void> {
    const serving = [...this.lives].filter(({ isServing }) => isServing)
    if (serving.length === 0) return
    const life = this.#random.pick(serving)
    life.asked += 1
    try {
      await this.#ask(life.race.ticks(POOL).pool, operation)
      this.answered += 1
    } catch {
      // Refused: whether it took effect, the history tells.
    } finally {
      life.asked -= 1
    }
  }

  async #ask(pool: ReturnType<Life['race']['pool']>, operation: Operation): Promise<void> {
    const { races } = this
    const { key } = operation
    if (operation.kind === 'cancel') {
      if ((await pool.cancel(key)) === 'due') races['a cancel came too late'] += 1
      return
    }
    // By the store's clock, as a user whose clock is right would.
    const at = this.clock.now() + operation.dueInMs
    if (operation.kind === 'put') {
      const { tally } = await pool.put(key, { at, onConflict: operation.onConflict })
      if (tally > 1) races['a put joined a run that is due'] += 1
      return
    }
    const { entries } = await pool.list({ key, limit: 1 })
    if (entries[0] === undefined) return
    const { kind } = await pool.reschedule(key, entries[0].at, at)
    if (kind === 'moved') races['a tick was moved to another time'] += 1
  }

  strike({ kind, member, ms }: PlannedFault): void {
    const running = [...this.lives].filter(({ isDead }) => !isDead)
    const life = running[member % Math.max(running.length, 1)]
    this.trace.note(life?.name ?? '-', `${kind} ${ms}`)
    this.plannedFaults += 1
    if (kind === 'join') {
      if (running.length < MOST_MEMBERS) this.join()
    } else if (kind === 'outage') this.#outage(ms)
    else if (life !== undefined) this.#strikeOne(life, kind, ms)
  }

  #strikeOne(life: Life, kind: PlannedFault['kind'], ms: number): void {
    if (kind === 'kill') life.kill()
    else if (kind === 'wrong-clock') life.clock.skewMs = ms
    else if (kind === 'leave') {
      if (this.lives.size > 1) void life.stop()
    } else if (kind === 'pause') life.pause(ms)
    else {
      life.isCutOff = true
      this.clock.timer(ms, () => (life.isCutOff = false))
    }
  }

  #outage(ms: number): void {
    this.isDown = true
    this.clock.timer(ms, () => (this.isDown = false))
  }

  /** Fills the places of the dead; called now and then, as a supervisor looks. */
  supervise(): void {
    for (const life of this.lives) {
      if (!life.isDead) continue
      this.lives.delete(life)
      if (this.#isHealed) this.join()
      else this.clock.timer(RESTART_MS, () => this.join())
    }
  }

  heal(): void {
    this.#isHealed = true
    this.faults.heal()
    this.isDown = false
    for (const life of this.lives) {
      life.isCutOff = false
      if (!life.isDead) life.clock.resume()
    }
    this.trace.note('-', 'healed')
  }
}

/** An answer in a few words: what differs between runs shows in what follows. */
function shown(answer: unknown): string {
  if (answer === undefined) return '-'
  const text = JSON.stringify(answer) ?? '-'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
