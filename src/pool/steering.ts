// A pool's pause and limits, as its users see them. What becomes of them is the workers' affair.
import { HeadraceError } from '../errors.ts'
import type { Telemetry } from '../telemetry.ts'
import {
  type Control,
  type Limits,
  type LimitsOptions,
  type PauseOptions,
  type Paused,
  changeLimits,
  checkPause,
  pauseAt,
} from './control.ts'
import { withLimits } from './shares.ts'
import type { Controlled, ControlStore } from './store.ts'

/** A pause that holds. */
export interface PausedView {
  by: string | null
  reason: string | null
  since: Date
  /** Null: it ends with `resume`. */
  until: Date | null
}

type Pass = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

export interface SteeringParts {
  pool: string
  store: ControlStore
  telemetry: Telemetry
  pass: Pass
}

/** Members share limits by the same writes; so many in a row do not come between. */
const MOST_TRIES = 50

export class Steering {
  readonly #parts: SteeringParts

  constructor(parts: SteeringParts) {
    this.#parts = parts
  }

  async pause(options: PauseOptions): Promise<PausedView> {
    const asked = checkPause(options)
    const paused = await this.#change(({ now, control }) => {
      const pause: Paused = { ...asked, since: pauseAt(control, now)?.since ?? now }
      return { control: { ...control, paused: pause }, answer: pause }
    })
    const { by, reason, until } = paused
    this.#parts.telemetry.emit('pool.paused', { pool: this.#parts.pool, by, reason, until })
    return view(paused)
  }

  async resume(): Promise<boolean> {
    const was = await this.#change(({ now, control }) => {
      return { control: { ...control, paused: null }, answer: pauseAt(control, now) !== null }
    })
    this.#parts.telemetry.emit('pool.resumed', { pool: this.#parts.pool })
    return was
  }

  async paused(): Promise<PausedView | null> {
    const { now, control } = await this.#read()
    const paused = pauseAt(control, now)
    return paused === null ? null : view(paused)
  }

  async limit(options: LimitsOptions): Promise<Limits> {
    const limits = await this.#change(({ now, control }) => {
      const changed = changeLimits(control.limits, options)
      return { control: withLimits(control, changed, now), answer: changed }
    })
    this.#parts.telemetry.emit('pool.limited', { pool: this.#parts.pool, limits })
    return limits
  }

  async limits(): Promise<Limits> {
    return (await this.#read()).control.limits
  }

  #read(): Promise<Controlled> {
    const { pass, store, pool } = this.#parts
    return pass(() => store.read(pool))
  }

  async #change<Answer>(
    decide: (found: Controlled) => { control: Control; answer: Answer },
  ): Promise<Answer> {
    const { pass, store, pool } = this.#parts
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = await this.#read()
      const { control, answer } = decide(found)
      if ((await pass(() => store.write(pool, found.version, control))) !== null) return answer
    }
    throw new HeadraceError('store_busy', `the pool ${pool} is steered by many at once`, {
      remedy: 'try again',
    })
  }
}

function view({ by, reason, since, until }: Paused): PausedView {
  return { by, reason, since: new Date(since), until: until === null ? null : new Date(until) }
}
