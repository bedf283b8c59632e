// Connections to the server: one query at a time on each, every call with a timeout. A pooler in transaction mode may stand
// between: then there are unnamed statements only, and nothing of a session.
import type { Pool, PoolClient } from 'pg'
import type { Clock } from '../../clock.ts'
import { HeadraceError } from '../../errors.ts'
import type { StoreOperation, Telemetry } from '../../telemetry.ts'
import { codeOf, isRefusal, timedOut, toHeadraceError, wasCut, wasUndone } from './failure.ts'
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
  telemetry: Telemetry
  /** The address without secrets. */
  address: string
}

/** How often a call is made again at most, and how long it waits before. */
const PAUSES_MS = [0, 20, 50, 100, 200, 400, 800, 800, 800, 800]

export class Connections {
  readonly #parts: ConnectionsParts
  #refusal: string | null = null
  #mayName = false

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

  /** Nothing stands between here and the server, so that statements may have names, which belong to a session. */
  allowNames(): void {
    this.#mayName = true
  }

  /** One named query, which is a transaction of its own. */
  query(name: string, values: readonly unknown[], call: Call): Promise<Row[]> {
    const text = this.#parts.queries.text(name)
    const named = this.#mayName && call.hasOnePlan === true ? { name } : {}
    return this.#calling(
      call,
      async (client) => (await client.query<Row>({ ...named, text, values: [...values] })).rows,
    )
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
        const pauseMs = PAUSES_MS[attempt]
        const mayRepeat = wasUndone(error) || (call.again === 'exact' && wasCut(error))
        if (!mayRepeat || pauseMs === undefined || clock.mono() - began + pauseMs >= call.timeoutMs) {
          throw this.#told(error, address)
        }
        if (pauseMs > 0) await clock.sleep(pauseMs)
      }
    }
  }

  #told(error: unknown, address: string): unknown {
    const told = toHeadraceError(error, address)
    if (isRefusal(error) && told instanceof HeadraceError) this.#refusal = told.message
    return told
  }

  /** Runs the work on a connection; when the time is over the connection is cut, since its answer may come any time. */
  async #once<Answer>(timeoutMs: number, work: (client: PoolClient) => Promise<Answer>): Promise<Answer> {
    const { clock, pool, address } = this.#parts
    const acquiring = pool.connect()
    let client: PoolClient | null = null
    let isOver = false
    let timeUp: (error: unknown) => void = () => undefined
    const late = new Promise<never>((_, reject) => (timeUp = reject))
    const timer = clock.timer(
      timeoutMs,
      () => {
        isOver = true
        timeUp(timedOut(address, Math.round(timeoutMs)))
        client?.release(true)
      },
      { background: true },
    )
    const working = acquiring.then(async (acquired) => {
      if (isOver) {
        acquired.release()
        throw timedOut(address, Math.round(timeoutMs))
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
    try {
      return await work(client)
    } catch (error) {
      failure = error
      throw error
    } finally {
      if (!isOver()) client.release(failure !== undefined && (codeOf(failure) === null || wasCut(failure)))
    }
  }
}
