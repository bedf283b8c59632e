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
  wasOfOtherLife,
  wasQueued,
  wasUndone,
  wentBack,
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

/** What knows the life of the server: life.ts. */
export interface Lives {
  /** Changes when numbers of pools or topics did. */
  readonly numbering: number
  /** The life that a statement named is not the current one: resolves when the current one is known. */
  renew(life: string): Promise<void>
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
  #life: Lives | null = null
  /** Those whose transaction could not be ended: they are closed, and not used again. */
  readonly #unfit = new WeakSet<PoolClient>()
  /** How many connections work. */
  #busy = 0

  constructor(parts: ConnectionsParts) {
    this.#parts = parts
    // A connection that breaks fails the call on it, if there is one, and is taken out of the pool. Without listeners
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

  /** From now on a call of another life of the server is made again in the current one. */
  follow(life: Lives): void {
    this.#life = life
  }

  /** One named query, in a life of the server that is not in force yet. */
  queryIn(life: string, name: string, values: readonly unknown[], call: Call): Promise<Row[]> {
    const text = this.#parts.queries.text(name, life)
    return this.#calling(
      call,
      async (client) => (await client.query<Row>({ text, values: [...values] })).rows,
      null,
    )
  }

  /** One named query, which is a transaction of its own. */
  query(name: string, values: readonly unknown[], call: Call): Promise<Row[]> {
    const { queries } = this.#parts
    // As of now, like the numbers in the values: a statement names no other life than that of its numbers.
    let { life } = queries
    const numbering = this.#life?.numbering
    let text = queries.text(name)
    const work = async (client: PoolClient): Promise<Row[]> => {
      if (this.#life !== null && this.#life.numbering === numbering && life !== queries.life)
        [life, text] = [queries.life, queries.text(name)]
      const named = this.#mayName && call.hasOnePlan === true ? { name: `${name}/${life}` } : {}
      return (await client.query<Row>({ ...named, text, values: [...values] })).rows
    }
    return this.#calling(call, work)
  }

  /** Several queries in one transaction; keep it short: the server ends one that stands still. */
  transaction<Answer>(call: Call, work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
    const { queries, address } = this.#parts
    const numbering = this.#life?.numbering
    return this.#calling(call, async (client) => {
      // The numbers in its values may be older than the wait for this connection.
      if (this.#life?.numbering !== numbering) throw wentBack(address)
      const { life } = queries
      try {
        await client.query(queries.text('begin'))
        const answer = await work({
          query: async (name, values) =>
            (await client.query<Row>({ text: queries.text(name, life), values: [...values] })).rows,
        })
        await client.query('COMMIT')
        return answer
      } catch (error) {
        // A connection that is gone has rolled back by itself. One that lives and has not is still in the transaction.
        await client.query('ROLLBACK').catch(() => this.#unfit.add(client))
        throw error
      }
    })
  }

  close(): Promise<void> {
    return this.#parts.pool.end()
  }

  async #calling<Answer>(
    call: Call,
    work: (client: PoolClient) => Promise<Answer>,
    life = this.#life,
  ): Promise<Answer> {
    const { clock, telemetry, address, queries } = this.#parts
    const began = clock.mono()
    const numbering = life?.numbering
    for (let attempt = 0; ; attempt += 1) {
      const named = queries.life
      try {
        const answer = await this.#once(call.timeoutMs - (clock.mono() - began), work)
        telemetry.emit('store.called', { operation: call.operation, tookMs: clock.mono() - began })
        if (call.operation === 'commit') this.#refusal = null
        return answer
      } catch (error) {
        const pauseMs = this.#pauseMs(attempt)
        if (life !== null && wasOfOtherLife(error)) await life.renew(named)
        if (wasOfOtherLife(error) && life?.numbering !== numbering) throw wentBack(address, error)
        // Whatever was found before, a pooler lends the sessions.
        if (wasMisnamed(error)) this.#mayName = false
        const mayRepeat =
          wasUndone(error) ||
          (life !== null && wasOfOtherLife(error)) ||
          wasMisnamed(error) ||
          (call.again === 'exact' && wasCut(error))
        if (!mayRepeat || clock.mono() - began + pauseMs >= call.timeoutMs) {
          const isQueued = wasQueued(error) && this.#busy >= this.#parts.pool.options.max
          throw this.#failed(isQueued ? this.#late(clock.mono() - began, true) : error, address)
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

  /** The error of a call whose time is over; `queued`: it got no connection. */
  #late(afterMs: number, queued: boolean): HeadraceError {
    const { address, pool, canGrow } = this.#parts
    const { max } = pool.options
    const isBusy = queued && this.#busy >= max
    return isBusy ? allBusy({ address, afterMs, max, canGrow }) : timedOut(address, Math.round(afterMs))
  }

  #failed(error: unknown, address: string): unknown {
    const failure = toHeadraceError(error, address)
    if (isRefusal(error) && failure instanceof HeadraceError) this.#refusal = failure.message
    return failure
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
      const isUnfit = this.#unfit.has(client) || (failure !== undefined && isOfConnection(failure))
      if (!isOver()) client.release(isUnfit)
    }
  }
}

function isOfConnection(failure: unknown): boolean {
  return codeOf(failure) === null || wasCut(failure)
}
