// A pool's pause and limits, as its users see them. What becomes of them is the workers' affair.
import { toIso } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { Telemetry } from '../telemetry.ts'
import { changeControl } from './change-control.ts'
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
      refusePast(asked.until, now)
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

  async limit(options: LimitsOptions, { isTicks }: { isTicks: boolean }): Promise<Limits> {
    const limits = await this.#change(({ now, control }) => {
      const changed = changeLimits(control.limits, options)
      if (isTicks || control.isTicks === true) refuseLimits(this.#parts.pool, changed)
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
    const { pass, store, pool, telemetry } = this.#parts
    const passed: ControlStore = {
      read: () => this.#read(),
      write: (name, version, control) => pass(() => store.write(name, version, control)),
    }
    const changed = await changeControl(passed, {
      pool,
      mostTries: MOST_TRIES,
      decide,
      lost: () => telemetry.emit('control.lost', { pool, by: 'caller' }),
    })
    if (changed !== null) return changed.answer
    throw new HeadraceError('store_busy', `the pool ${pool} is steered by many at once`, {
      remedy: 'try again',
    })
  }
}

/** By the store's clock: a pause that is over before it begins lets everything run. [L12] */
function refusePast(until: number | null, now: number): void {
  if (until === null || until > now) return
  const message = `until is ${toIso(until)}, and by the clock of the store it is ${toIso(now)}`
  throw new HeadraceError('invalid_input', message, {
    remedy: 'give a time that is to come, or leave it out: then the pause ends with resume',
  })
}

/** They say how many handlers run, and ticks have none. What was set before can be lifted. [T6] */
function refuseLimits(pool: string, { group, pool: whole }: Limits): void {
  const values = [group.concurrency, group.rate, whole.concurrency, whole.rate]
  if (values.every((value) => value === null)) return
  const message = `the pool ${pool} is of ticks, which have no limits: they move to a topic, and no handler runs`
  throw new HeadraceError('invalid_options', message, {
    remedy: 'limit what reads the topic; to let no tick move, pause the pool',
  })
}

function view({ by, reason, since, until }: Paused): PausedView {
  return { by, reason, since: new Date(since), until: until === null ? null : new Date(until) }
}
