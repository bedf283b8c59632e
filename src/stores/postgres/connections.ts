// Connections to the server: one query at a time on each, every call with a timeout. A pooler in transaction mode may stand
// between: then there are unnamed statements only, and nothing of a session.
import type { Pool, PoolClient } from 'pg'
import type { Clock } from '../../clock.ts'
import { HeadraceError } from '../../errors.ts'
import type { StoreOperation, Emitter } from '../../telemetry.ts'
import {
  allBusy,
  codeOf,
  isRefusal,
  timedOut,
  toHeadraceError,
  wasCut,
  wasMisnamed,
  wasQueued,
  wasUndone,
} from './failure.ts'
import type { Queries } from './queries.ts'

export type Row = Record<string, unknown>

export interface Call {
  operation: StoreOperation
  timeoutMs: number
  /**
   * When a failed call is made again: `exact` when the outcome is unknown, too, since a repeat finds what the first did
   * or does no harm; `undone` only when the first certainly did nothing.
   */
  again: 'exact' | 'undone'
  /** Its plan is the same whatever the values: where no pooler stands between, the server makes it once a connection. */
  hasOnePlan?: boolean
}

/** What a transaction can do; it ends with its function. */
export interface Tx {
  query(name: string, values: readonly unknown[]): Promise<Row[]>
}

export interface ConnectionsParts {
  pool: Pool
  queries: Queries
  clock: Clock
  telemetry: Emitter
  /** The address without secrets. */
  address: string
  /** Whether a larger `max` in the address means more of these. */
  canGrow: boolean
}

/** How often a call is made again at most, and how long it waits before: this, half as long or half as long again. */
const PAUSES_MS = [0, 20, 50, 100, 200, 400, 800, 800, 800, 800]

export class Connections {
  readonly #parts: ConnectionsParts
  #refusal: string | null = null
  #mayName = false
  /** How many connections work. */
  #busy = 0

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
    // A connection that breaks is told by the call on it, if there is one, and taken out of the pool. Without listeners
    // the event would end the process, also of one that is being closed.
    const ignore = (): void => undefined
    parts.pool.on('error', ignore)
    parts.pool.on('connect', (client) => void client.on('error', ignore))
  }

  /** Why the server lately refused a write; null: it did not. */
  get refusal(): string | null {
    return this.#refusal
  }

  /** No pooler stands between here and the server, so that statements may have names, which belong to a session. */
  allowNames(): void {
    this.#mayName = true
  }

  /** One named query, which is a transaction of its own. */
  query(name: string, values: readonly unknown[], call: Call): Promise<Row[]> {
    const text = this.#parts.queries.text(name)
    return this.#calling(call, async (client) => {
      const named = this.#mayName && call.hasOnePlan === true ? { name } : {}
      return (await client.query<Row>({ ...named, text, values: [...values] })).rows
    })
  }

  /** Several queries in one transaction; keep it short: the server ends one that stands still. */
  transaction<Answer>(call: Call, work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
    const { queries } = this.#parts
    return this.#calling(call, async (client) => {
      await client.query(queries.text('begin'))
      try {
        const answer = await work({
          query: async (name, values) =>
            (await client.query<Row>({ text: queries.text(name), values: [...values] })).rows,
        })
        await client.query('COMMIT')
        return answer
      } catch (error) {
        // A connection that is gone has rolled back by itself.
        await client.query('ROLLBACK').catch(() => undefined)
        throw error
      }
    })
  }

  close(): Promise<void> {
    return this.#parts.pool.end()
  }

  async #calling<Answer>(call: Call, work: (client: PoolClient) => Promise<Answer>): Promise<Answer> {
    const { clock, telemetry, address } = this.#parts
    const began = clock.mono()
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await this.#once(call.timeoutMs - (clock.mono() - began), work)
        telemetry.emit('store.called', { operation: call.operation, tookMs: clock.mono() - began })
        if (call.operation === 'commit') this.#refusal = null
        return answer
      } catch (error) {
        const pauseMs = this.#pauseMs(attempt)
        // Whatever was found before, a pooler lends the sessions.
        if (wasMisnamed(error)) this.#mayName = false
        const mayRepeat = wasUndone(error) || wasMisnamed(error) || (call.again === 'exact' && wasCut(error))
        if (!mayRepeat || clock.mono() - began + pauseMs >= call.timeoutMs) {
          const isQueued = wasQueued(error) && this.#busy >= this.#parts.pool.options.max
          throw this.#told(isQueued ? this.#late(clock.mono() - began, true) : error, address)
        }
        if (wasUndone(error)) telemetry.emit('store.repeated', { operation: call.operation })
        if (pauseMs > 0) await clock.sleep(pauseMs)
      }
    }
  }

  /** Not the same for all: those that got into each other's way would do so again. */
  #pauseMs(attempt: number): number {
    return (PAUSES_MS[attempt] ?? Infinity) * (0.5 + this.#parts.clock.random())
  }

  /** What a call is told whose time is over; `queued`: it got no connection. */
  #late(afterMs: number, queued: boolean): HeadraceError {
    const { address, pool, canGrow } = this.#parts
    const { max } = pool.options
    const isBusy = queued && this.#busy >= max
    return isBusy ? allBusy({ address, afterMs, max, canGrow }) : timedOut(address, Math.round(afterMs))
  }

  #told(error: unknown, address: string): unknown {
    const told = toHeadraceError(error, address)
    if (isRefusal(error) && told instanceof HeadraceError) this.#refusal = told.message
    return told
  }

  /** Runs the work on a connection; when the time is over the connection is cut, since its answer may come any time. */
  async #once<Answer>(timeoutMs: number, work: (client: PoolClient) => Promise<Answer>): Promise<Answer> {
    const { clock, pool } = this.#parts
    const acquiring = pool.connect()
    let client: PoolClient | null = null
    let isOver = false
    let timeUp: (error: unknown) => void = () => undefined
    const late = new Promise<never>((_, reject) => (timeUp = reject))
    const timer = clock.timer(
      timeoutMs,
      () => {
        isOver = true
        timeUp(this.#late(timeoutMs, client === null))
        client?.release(true)
      },
      { background: true },
    )
    const working = acquiring.then(async (acquired) => {
      if (isOver) {
        acquired.release()
        throw this.#late(timeoutMs, false)
      }
      client = acquired
      return this.#on(acquired, work, () => isOver)
    })
    try {
      return await Promise.race([working, late])
    } finally {
      timer.cancel()
      working.catch(() => undefined)
    }
  }

  async #on<Answer>(
    client: PoolClient,
    work: (client: PoolClient) => Promise<Answer>,
    isOver: () => boolean,
  ): Promise<Answer> {
    let failure: unknown
    this.#busy += 1
    try {
      return await work(client)
    } catch (error) {
      failure = error
      throw error
    } finally {
      this.#busy -= 1
      if (!isOver()) client.release(failure !== undefined && (codeOf(failure) === null || wasCut(failure)))
    }
  }
}
