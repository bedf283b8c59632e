// A member of a long life: the product's own code on a clock of its own, which may end at any moment. Its calls to the
// store take no time and meet no fault but its own death: what is long here is the life, not the list of faults.
import { HeadraceError } from '../../errors.ts'
import { noFaults } from '../../fault.ts'
import { Headrace } from '../../headrace.ts'
import { type OptionsInput, resolveOptions } from '../../options.ts'
import type { TicksOptions } from '../../pool-options.ts'
import { answersOf } from '../../pool/put-options.ts'
import type { Store } from '../../store.ts'
import { createTelemetry } from '../../telemetry.ts'
import { MemberClock } from '../../testing/member-clock.ts'
import { through } from '../../testing/through.ts'
import type { VirtualClock } from '../../testing/virtual-clock.ts'
import { POOL } from './swarm.ts'

/** At once, or with its next call to the store: before it takes effect, or after, and its answer comes to nobody. */
export const DEATHS = ['now', 'before a call', 'after a put', 'after a move'] as const
export type DeathMoment = (typeof DEATHS)[number]

/** The call after whose effect it dies. */
const LAST_CALLS: Partial<Record<DeathMoment, string>> = {
  'after a put': 'pool.entries.put',
  'after a move': 'mover.move',
}

/** A tick that a user asks for. */
export interface Ask {
  item: string
  at: number
  /** Whether it is known by an id, as an `Idempotency-Key` is. */
  hasId: boolean
}

/** As long as the server keeps the answers to requests that have an id. */
const KEEP_MS = 86_400_000

export interface LongMemberParts {
  clock: VirtualClock
  store: Store
  options: OptionsInput
  ticks: TicksOptions
  /** Told once, when it is dead. */
  died(member: LongMember): void
}

export class LongMember {
  readonly #parts: LongMemberParts
  readonly #race: Headrace
  readonly #clock: MemberClock
  readonly #unwatch = new Set<() => void>()
  /** Who waits for an answer, and learns of its death as one whose connection breaks. */
  readonly #askers = new Set<(error: unknown) => void>()
  #deathMoment: DeathMoment | null = null
  #isDead = false
  /** It has started, and lives. */
  isServing = false

  constructor(parts: LongMemberParts) {
    const { clock, store, options, ticks } = parts
    this.#parts = parts
    this.#clock = new MemberClock(clock)
    const calls = through(store, (path, call) => this.#call(path, call))
    this.#race = new Headrace({
      options: resolveOptions(options),
      clock: this.#clock,
      telemetry: createTelemetry(this.#clock.id()),
      faults: noFaults,
      store: { ...calls, watch: (listener) => this.#watch(store, listener), close: async () => undefined },
    })
    this.#race.ticks(POOL, ticks)
  }

  /** The id under which it is in the roster. */
  get id(): string {
    return this.#race.roster.id
  }

  async start(): Promise<void> {
    await this.#race.start()
    this.isServing = !this.#isDead
  }

  /** Puts a tick; fails when it is refused, or when the member dies before it has answered. */
  put({ item, at, hasId }: Ask): Promise<unknown> {
    const { pool } = this.#race.ticks(POOL)
    const put = {
      key: item,
      at,
      payload: undefined,
      lane: 'normal',
      group: item,
      onConflict: 'earliest',
    } as const
    const repeat = hasId ? { id: item, fingerprint: item, keepMs: KEEP_MS } : null
    return new Promise((resolve, reject) => {
      this.#askers.add(reject)
      const answers = pool.request({ puts: [put], repeat }).then(answersOf)
      void answers.then(resolve, reject).then(() => this.#askers.delete(reject))
    })
  }

  /** SIGKILL. */
  kill(moment: DeathMoment): void {
    if (moment === 'now') this.#die()
    else this.#deathMoment = moment
  }

  async stop(): Promise<void> {
    this.isServing = false
    await this.#race.stop()
  }

  #die(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.isServing = false
    this.#clock.end()
    // Channels of telemetry are the process's, which outlives it here.
    this.#race.meter.close()
    for (const unwatch of this.#unwatch) unwatch()
    const broken = new HeadraceError('store_failed', 'the connection broke', { remedy: 'ask another member' })
    for (const reject of this.#askers) reject(broken)
    this.#parts.died(this)
  }

  #watch(store: Store, listener: Parameters<Store['watch']>[0]): () => void {
    const unwatch = store.watch(listener)
    this.#unwatch.add(unwatch)
    return () => {
      this.#unwatch.delete(unwatch)
      unwatch()
    }
  }

  #call(path: string, call: () => Promise<unknown>): Promise<unknown> {
    if (this.#isDead || this.#deathMoment === 'before a call') return this.#lastCall(async () => undefined)
    const isLast = this.#deathMoment !== null && LAST_CALLS[this.#deathMoment] === path
    return isLast ? this.#lastCall(call) : call()
  }

  async #lastCall(call: () => Promise<unknown>): Promise<unknown> {
    await call()
    this.#die()
    return new Promise(() => undefined)
  }
}
