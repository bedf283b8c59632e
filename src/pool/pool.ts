// A pool as its users see it: put, cancel, look. Checks input, joins concurrent puts, and leaves every rule
// to the store.
import { Batcher } from '../batcher.ts'
import type { Clock } from '../clock.ts'
import { toMs } from '../duration.ts'
import { HeadraceError, assert } from '../errors.ts'
import type { Gate } from '../gate.ts'
import { type Accepted, type Arrivals, refuseTransaction } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import { type AnyTransaction, transactionOf } from '../tx.ts'
import { refuseSurplus } from '../check-options.ts'
import { type Moment, checkChoice, checkKey, checkMoment, checkPayload } from '../check.ts'
import type { Limits, LimitsOptions, PauseOptions } from './control.ts'
import { Dead } from './dead.ts'
import { CancelTeller } from './cancel-teller.ts'
import { CONFLICT_RULES, type CancelledName, type EntryState, LANES } from './entry.ts'
import { type EntryView, pageOf, view } from './entry-view.ts'
import { type ListOptions, listQuery } from './list-options.ts'
import { longestWaitOf } from './longest-wait.ts'
import type { Put } from './merge.ts'
import { putCounts, putFacts, replacedPayload } from './put-facts.ts'
import {
  type AddOptions,
  type PutArguments,
  type PutOptions,
  type PutOutcome,
  type RescheduleOutcome,
  type TxOptions,
  answersOf,
  checkAddOptions,
  checkPutAll,
  checkPutOptions,
  checkTrace,
  rescheduleOutcome,
} from './put-options.ts'
import { type PausedView, Steering } from './steering.ts'
import type {
  CancelAnswer,
  CancelResult,
  EntryCursor,
  PoolSettings,
  PoolStore,
  PutRequest,
  PutResponse,
} from './store.ts'

export interface PoolParts {
  settings: PoolSettings
  store: PoolStore
  /** Null: the store takes no part in users' own transactions. */
  arrivals: Arrivals | null
  clock: Clock
  telemetry: Telemetry
  /** Closes when the store is about to; every call passes it. */
  gate: Gate
}

/** Told of a cancel before it is sent; what it answers is called when it was made, and answers how many runs it met. */
type CancelListener = (name: CancelledName) => () => number

/** The most puts that one store call carries, unless one request alone has more. */
const BATCH = 1000

/** `Payload` is what its puts carry and its runs get. */
export class Pool<Payload = unknown> {
  readonly name: string
  readonly settings: PoolSettings
  /** What was given up: look at it, run it again, remove it. */
  readonly dead: Dead
  readonly #steering: Steering
  readonly #parts: PoolParts
  readonly #batcher: Batcher<PutRequest, PutResponse>
  readonly #cancelling = new Set<CancelListener>()
  readonly #cancelTeller: CancelTeller
  #opening: Promise<void> | null = null
  #isOpen = false
  #isTicks = false
  /** A put whose payload replaced another was reported. */
  #hasReplaced = false

  constructor(parts: PoolParts) {
    this.name = parts.settings.name
    this.settings = parts.settings
    this.#parts = parts
    const { store, telemetry } = parts
    const pass = <Answer>(call: () => Promise<Answer>): Promise<Answer> => this.#pass(call)
    this.dead = new Dead(this.name, store, pass)
    this.#steering = new Steering({ pool: this.name, store: store.control, telemetry, pass })
    this.#cancelTeller = new CancelTeller({ ...parts, pool: this.name, control: store.control })
    this.#batcher = new Batcher({
      clock: parts.clock,
      size: BATCH,
      atOnce: parts.store.putsAtOnce,
      weigh: (request) => request.puts.length,
      run: (requests) => this.#put(requests),
    })
  }

  /** Whether it is known in its store. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether this process moves its due entries to a topic, or would. */
  get isTicks(): boolean {
    return this.#isTicks
  }

  /** Its due entries move to a topic. */
  becomeTicks(): void {
    this.#isTicks = true
  }

  /** Creates or checks the pool in its store; every other call does it first. */
  open(): Promise<void> {
    return this.#parts.gate.pass(() => this.#open())
  }

  #open(): Promise<void> {
    this.#opening ??= this.#openStore()
    return this.#opening
  }

  async #openStore(): Promise<void> {
    try {
      await this.#parts.store.entries.open(this.settings)
      this.#isOpen = true
    } catch (error) {
      this.#opening = null
      throw error
    }
  }

  /** Runs a call on the opened pool, unless the gate is closed. */
  #pass<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    return this.#parts.gate.pass(async () => {
      if (!this.#isOpen) await this.#open()
      return call()
    })
  }

  /**
   * Asks for work on a key. Answers after the durable commit; with `tx`, a client of yours between BEGIN and COMMIT, it
   * counts when you commit, and answers `accepted`.
   */
  put(key: string, options: PutOptions<Payload> & { tx: AnyTransaction }): Promise<Accepted>
  put(key: string, ...options: PutArguments<Payload>): Promise<PutOutcome>
  async put(key: string, ...given: unknown[]): Promise<PutOutcome | Accepted> {
    refuseSurplus(arguments.length, { form: 'pool.put(key, { …, tx })', takes: 2 })
    const [options = {}] = given as [(PutOptions & TxOptions)?]
    checkPutOptions(options)
    const { tx, ...rest } = options
    const put = this.#check({ key, ...rest })
    // One that is undefined was forgotten: the put must not commit by itself.
    if ('tx' in options) return this.#arrive(tx, [put])
    const [outcome] = await this.#putNow([put])
    assert(outcome !== undefined, 'a put has an answer')
    return outcome
  }

  /**
   * Asks for a run of its own, under a fresh key, which it answers: for work that has no key of its own. Two calls are two
   * runs; to ask for the same work once, put it under a key.
   */
  add(payload: Payload, options: AddOptions & { tx: AnyTransaction }): Promise<Accepted & { key: string }>
  add(payload: Payload, options?: AddOptions): Promise<PutOutcome & { key: string }>
  async add(
    payload: Payload,
    options: AddOptions & TxOptions = {},
  ): Promise<(PutOutcome | Accepted) & { key: string }> {
    refuseSurplus(arguments.length, { form: 'pool.add(payload, { …, tx })', takes: 2 })
    checkAddOptions(options)
    const key = this.#parts.clock.id()
    return { key, ...(await (this as Pool).put(key, { ...options, payload })) }
  }

  async #arrive(given: AnyTransaction | undefined, puts: Put[]): Promise<Accepted> {
    const { arrivals } = this.#parts
    const tx = transactionOf(given)
    if (arrivals === null) throw refuseTransaction()
    await this.#pass(() => arrivals.put(tx, this.name, puts))
    return { result: 'accepted' }
  }

  async #putNow(puts: Put[]): Promise<PutOutcome[]> {
    const response = await this.request({ puts, repeat: null })
    return answersOf(response).map(
      ({ result, dueAt, tally }) => ({ result, dueAt: new Date(dueAt), tally }) as PutOutcome,
    )
  }

  /**
   * Puts many keys in one atomic step, all or none, and answers one outcome each, in order. About 1,000 a call go
   * fastest. Calls that do not wait for each other may be applied in any order. With `tx` all of them count when you
   * commit, and one answer says so.
   */
  putAll(
    puts: readonly ({ key: string } & PutOptions<Payload>)[],
    options: { tx: AnyTransaction },
  ): Promise<Accepted>
  putAll(
    puts: readonly ({ key: string } & PutOptions<Payload>)[],
    options?: { tx?: never },
  ): Promise<PutOutcome[]>
  async putAll(
    puts: readonly ({ key: string } & PutOptions)[],
    options: TxOptions = {},
  ): Promise<PutOutcome[] | Accepted> {
    refuseSurplus(arguments.length, { form: 'pool.putAll(puts, { tx })', takes: 2 })
    checkPutAll(puts, options)
    const checked = puts.map((put) => this.#check(put))
    return 'tx' in options ? this.#arrive(options.tx, checked) : this.#putNow(checked)
  }

  /** Puts that were checked already; concurrent requests share a commit. */
  async request(request: PutRequest): Promise<PutResponse> {
    // As #pass does, without its closures: this is the way of every posted tick.
    this.#parts.gate.enter()
    try {
      if (!this.#isOpen) await this.#open()
      return await this.#batcher.add(request)
    } finally {
      this.#parts.gate.leave()
    }
  }

  /** Removes an entry. In mode `each` a moment names one slot, and without one all slots of the key go. */
  async cancel(key: string, at?: Moment): Promise<CancelResult> {
    refuseSurplus(arguments.length, { form: 'pool.cancel(key, at)', takes: 2 })
    const { cancelled, due } = await this.cancelAll(key, at)
    if (due > 0) return 'due'
    return cancelled > 0 ? 'cancelled' : 'absent'
  }

  async cancelAll(key: string, at?: Moment): Promise<CancelAnswer> {
    const name = at === undefined ? { key: checkKey(key) } : { key: checkKey(key), slot: this.#slot(at) }
    const tells = [...this.#cancelling].map((listener) => listener(name))
    const answer = await this.#pass(() => this.#parts.store.entries.cancel(this.name, name))
    const met = tells.reduce((count, tell) => count + tell(), 0)
    if (answer.due > met) this.#cancelTeller.tell(name)
    this.#parts.telemetry.emit('pool.changed', {
      pool: this.name,
      cancelled: answer.cancelled + answer.due,
      rescheduled: 0,
    })
    return answer
  }

  /** Tells of every cancel before it is sent, and calls back what that answers when it was made; until it is ended. */
  watchCancels(listener: CancelListener): () => void {
    this.#cancelling.add(listener)
    return () => void this.#cancelling.delete(listener)
  }

  /**
   * Moves an entry to another time in one step, unless it is due already. In mode `each` it is not moved onto another entry
   * of its key: that answers `exists` and changes nothing.
   */
  async reschedule(key: string, from: Moment | null, to: Moment): Promise<RescheduleOutcome> {
    refuseSurplus(arguments.length, { form: 'pool.reschedule(key, from, to)', takes: 3 })
    const change = {
      key: checkKey(key),
      slot: from === null ? null : this.#slot(from),
      at: checkMoment(to, 'to'),
    }
    const answer = await this.#pass(() => this.#parts.store.entries.reschedule(this.name, change))
    if (answer.kind === 'moved') {
      this.#parts.telemetry.emit('pool.changed', { pool: this.name, cancelled: 0, rescheduled: 1 })
    }
    return rescheduleOutcome(answer)
  }

  async get(key: string, at?: Moment): Promise<EntryView | null> {
    refuseSurplus(arguments.length, { form: 'pool.get(key, at)', takes: 2 })
    const name = { key: checkKey(key), slot: at === undefined ? null : this.#slot(at) }
    const entry = await this.#pass(() => this.#parts.store.browse.get(this.name, name))
    return entry === null ? null : view(entry, this.#parts.clock.now())
  }

  /** A page of entries in due order, 100 by default; `next` is the cursor of the following page, null at the end. */
  async list(options: ListOptions = {}): Promise<{ entries: EntryView[]; next: EntryCursor | null }> {
    refuseSurplus(arguments.length, { form: 'pool.list(options)', takes: 1 })
    const query = listQuery(options)
    const oneMore = { ...query, limit: query.limit + 1 }
    const { now, entries } = await this.#pass(() => this.#parts.store.browse.list(this.name, oneMore))
    return pageOf(entries, query.limit, now)
  }

  count(): Promise<Record<EntryState, number>> {
    return this.#pass(() => this.#parts.store.browse.count(this.name))
  }

  /** Lets no run start, and no tick move, until `resume`, or `until`; what runs goes on. It is stored, and outlives every member. */
  async pause(options: PauseOptions = {}): Promise<PausedView> {
    refuseSurplus(arguments.length, { form: 'pool.pause(options)', takes: 1 })
    return this.#steering.pause(options)
  }

  /** Ends a pause; false: there was none. */
  resume(): Promise<boolean> {
    return this.#steering.resume()
  }

  /** The pause that holds now; null: none does. */
  paused(): Promise<PausedView | null> {
    return this.#steering.paused()
  }

  /** Changes the limits of the pool, or of each of its groups, for all members; answers all of them. Ticks have none. */
  async limit(options: LimitsOptions): Promise<Limits> {
    refuseSurplus(arguments.length, { form: 'pool.limit({ pool, group })', takes: 1 })
    return this.#steering.limit(options, { isTicks: this.#isTicks })
  }

  limits(): Promise<Limits> {
    return this.#steering.limits()
  }

  #check(put: { key: string } & PutOptions): Put {
    if (put.at !== undefined && put.in !== undefined) {
      throw new HeadraceError('invalid_input', 'a put has both `at` and `in`', { remedy: 'give one of them' })
    }
    const key = checkKey(put.key)
    this.#tellAsked(key, put, put.at)
    return {
      key,
      at: put.at === undefined ? null : checkMoment(put.at),
      ...(put.in === undefined ? {} : { inMs: toMs(put.in, 'invalid_input') }),
      payload: checkPayload(put.payload),
      lane:
        put.lane === undefined ? null : checkChoice(put.lane, LANES, { name: 'lane', code: 'invalid_input' }),
      group: put.group === undefined ? key : checkKey(put.group, 'group'),
      onConflict: checkChoice(put.onConflict ?? 'earliest', CONFLICT_RULES, {
        name: 'onConflict',
        code: 'invalid_input',
      }),
      ...longestWaitOf(put, this.settings),
    }
  }

  /** In the context of the caller, which is left when puts are joined. [I12] */
  #tellAsked(key: string, { trace }: PutOptions, at: Moment | undefined): void {
    const traceparent = trace === undefined ? null : checkTrace(trace)
    const { telemetry } = this.#parts
    if (!telemetry.hears('put.asked')) return
    const slot = at === undefined ? null : this.#slot(at)
    telemetry.emit('put.asked', { pool: this.name, key, slot, traceparent })
  }

  #slot(at: Moment): number | null {
    const slot = checkMoment(at)
    return this.settings.mode === 'each' ? slot : null
  }

  /** Keys that stand for different jobs lose their payloads silently otherwise: the first time is reported. */
  #reportReplaced(requests: readonly PutRequest[], responses: readonly PutResponse[]): void {
    const { mode, payloads } = this.settings
    if (mode === 'each' || payloads === 'all') return
    const key = replacedPayload(requests, responses)
    if (key === null) return
    this.#hasReplaced = true
    this.#parts.telemetry.emit('pool.payload-replaced', { pool: this.name, key })
  }

  /** Tells of each put by itself if somebody listens. */
  async #put(requests: PutRequest[]): Promise<PutResponse[]> {
    const { telemetry, clock } = this.#parts
    const began = clock.mono()
    const responses = await this.#parts.store.entries.put(this.name, requests)
    telemetry.emit('pool.put', { pool: this.name, ...putCounts(responses) })
    if (!this.#hasReplaced) this.#reportReplaced(requests, responses)
    if (!telemetry.hears('put.answered')) return responses
    const puts = putFacts(this.settings.mode, requests, responses)
    telemetry.emit('put.answered', { pool: this.name, puts, tookMs: clock.mono() - began })
    return responses
  }
}
