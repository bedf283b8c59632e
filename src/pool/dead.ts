// What was given up in a pool, as its users see it.
import { type Moment, checkKey, checkMoment } from '../check.ts'
import type { Death } from './settle.ts'
import type { PoolStore } from './store.ts'

/** A run that was given up. */
export interface DeadRun {
  key: string
  /** The moment that was asked for, in mode `each`; null in mode `one`. */
  at: Date | null
  payload: unknown
  /** How many puts it stood for. */
  tally: number
  /** `attempts`: every attempt failed. `crashed`: it was under way in three crashes. Else what the handler said. */
  reason: string
  /** What was thrown last; null: nothing was. */
  error: string | null
  diedAt: Date
}

type Pass = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

const LISTED = 100

export class Dead {
  readonly #pool: string
  readonly #store: Pick<PoolStore, 'browse' | 'dead'>
  readonly #pass: Pass

  constructor(pool: string, store: Pick<PoolStore, 'browse' | 'dead'>, pass: Pass) {
    this.#pool = pool
    this.#store = store
    this.#pass = pass
  }

  /** The newest first. A key that was put again since is still listed: the record of its death stays. */
  async list({ limit = LISTED }: { limit?: number } = {}): Promise<DeadRun[]> {
    const deaths = await this.#pass(() => this.#store.browse.deaths(this.#pool, limit))
    return deaths.map(deadRun)
  }

  /** Runs a dead entry again, now, with its payload and from the first attempt; false: it is not there, or not dead. */
  redrive(key: string, at?: Moment): Promise<boolean> {
    return this.#pass(() => this.#store.dead.redrive(this.#pool, nameOf(key, at)))
  }

  /** Removes a dead entry, and the records of its deaths from the list; false: it is not there, or not dead. */
  remove(key: string, at?: Moment): Promise<boolean> {
    return this.#pass(() => this.#store.dead.remove(this.#pool, nameOf(key, at)))
  }
}

function nameOf(key: string, at: Moment | undefined): { key: string; slot: number | null } {
  return { key: checkKey(key), slot: at === undefined ? null : checkMoment(at) }
}

function deadRun({ key, slot, payload, seen, reason, error, diedAt }: Death): DeadRun {
  return {
    key,
    at: slot === null ? null : new Date(slot),
    payload: payload === null ? undefined : (JSON.parse(payload) as unknown),
    tally: seen,
    reason,
    error,
    diedAt: new Date(diedAt),
  }
}
