// What users ask of members, and what they may expect of it in the end: every answered append stands once where it was
// answered, every committed one once, and nothing of what was rolled back.
import type { Clock } from '../../clock.ts'
import { HeadraceError } from '../../errors.ts'
import type { LogEvent } from '../../log/store.ts'
import type { PutResponse } from '../../pool/store.ts'
import type { Random } from '../../random.ts'
import type { Store } from '../../store.ts'
import type { Answers } from './answers.ts'
import { type LateArrivals, LateTransaction } from './arrivals.ts'
import { askJob, isJob } from './job-users.ts'
import type { JobOperation } from './jobs.ts'
import type { Life } from './life.ts'
import type { RaceCounts } from './sometimes.ts'
import { type Ending, type Operation, POOL, TOPIC } from './swarm.ts'
import type { Trace } from './trace.ts'

export interface UsersParts {
  clock: Clock
  storeClock: Clock
  random: Random
  races: RaceCounts
  trace: Trace
  arrivals: LateArrivals
  answers: Answers
  lives: ReadonlySet<Life>
  /** Whether a transaction that this member began can be committed: its connection still stands. */
  isConnected(life: Life): boolean
}

type Put = Extract<Operation, { kind: 'put' }>
type PutAgain = Extract<Operation, { kind: 'put-again' }>
type Append = Extract<Operation, { kind: 'append' }>

/** How often a put with an id is made at most. */
const MOST_TRIES = 4
/** How long users wait before they ask again, or look again for somebody who serves. */
const TRY_AGAIN_MS = 300
const KEPT_MS = 600_000

export class Users {
  readonly #parts: UsersParts
  readonly #underWay = new Map<Operation | JobOperation, Life>()
  /** Where the events stand that were appended, by their ids; null: somewhere, or nowhere if it is in `#undone`. */
  readonly #appended = new Map<string, { partition: number; offset: number } | null>()
  readonly #undone = new Set<string>()
  /** The ids of events that were lost when the store went back. */
  readonly #lost = new Set<string>()
  #open = 0
  /** How many users have found nobody yet who serves. */
  #waiting = 0
  /** How many operations were sent to a member. */
  sent = 0
  /** How many operations were answered. */
  answered = 0

  constructor(parts: UsersParts) {
    this.#parts = parts
  }

  /** How many transactions are open. */
  get open(): number {
    return this.#open
  }

  async operate(operation: Operation | JobOperation): Promise<void> {
    const life = await this.#find()
    this.sent += 1
    this.#underWay.set(operation, life)
    this.#parts.trace.note(life.name, `is asked ${JSON.stringify(operation)}`)
    try {
      const asked = this.#ask(life, operation)
      // One that is made again does not end with its first member.
      await (operation.kind === 'put-again' ? asked : this.#whileAlive(life, asked))
      this.answered += 1
    } catch {
      // Refused: whether it took effect, the history tells.
    }
    this.#underWay.delete(operation)
  }

  /** Operations that a living member has not answered, or that nobody was there for. */
  unanswered(): string[] {
    const living = [...this.#underWay].filter(([, life]) => !life.isDead)
    return [
      ...living.map(
        ([{ kind, key, atMs }, { name }]) => `[R1] ${name} never answered the ${kind} of ${key} at ${atMs}`,
      ),
      ...(this.#waiting > 0 ? [`[R1] ${this.#waiting} operations found nobody who serves`] : []),
    ]
  }

  /** The store went back, and these events are gone. [G6] */
  lost(ids: Iterable<string>): void {
    for (const id of ids) this.#lost.add(id)
  }

  /** What is wrong with the topic that they appended to. */
  async judge(store: Store): Promise<string[]> {
    const events: LogEvent[] = []
    const found: string[] = []
    for (const { partition, head } of (await store.log.topic(TOPIC)).bounds) {
      const request = { from: [{ partition, offset: 0 }], limit: 1_000_000, maxBytes: Infinity }
      const read = (await store.log.read(TOPIC, request)).events
      if (read.length !== head || read.some(({ offset }, nth) => offset !== nth))
        found.push(`[L2] partition ${partition} of ${TOPIC} has gaps`)
      events.push(...read)
    }
    const places = Map.groupBy(events, ({ id }) => id)
    for (const [id, all] of places)
      if (all.length > 1) found.push(`[L2] the event ${id} stands ${all.length} times`)
    for (const [id, place] of this.#appended) {
      const event = places.get(id)?.[0]
      if (event === undefined && this.#lost.has(id)) continue
      if (event === undefined) found.push(`[L2] the event ${id} is lost`)
      else if (place !== null && (event.partition !== place.partition || event.offset !== place.offset))
        found.push(`[L2] the event ${id} stands elsewhere than was answered`)
    }
    for (const id of this.#undone)
      if (places.has(id)) found.push(`[U1] the event ${id} was rolled back, and is there`)
    return found
  }

  /** Whoever serves; somebody does when all is healed. */
  async #find(): Promise<Life> {
    this.#waiting += 1
    let life = this.#pick()
    while (life === null) {
      await this.#parts.clock.sleep(TRY_AGAIN_MS)
      life = this.#pick()
    }
    this.#waiting -= 1
    return life
  }

  #pick(): Life | null {
    const serving = [...this.#parts.lives].filter(({ isServing }) => isServing)
    return serving.length === 0 ? null : this.#parts.random.pick(serving)
  }

  /** As by a connection, which breaks when the other end dies. */
  #whileAlive<Answer>(life: Life, answer: Promise<Answer>): Promise<Answer> {
    const broken = life.ended.then(() =>
      Promise.reject(new HeadraceError('store_failed', `${life.name} died`)),
    )
    return Promise.race([answer, broken])
  }

  async #ask(life: Life, operation: Operation | JobOperation): Promise<void> {
    const { storeClock } = this.#parts
    if (isJob(operation)) return askJob(life, operation, this.#parts)
    if (operation.kind === 'append') return this.#append(life, operation)
    if (operation.kind === 'cancel') return this.#cancel(life, operation.key)
    // By the store's clock, as a user whose clock is right would.
    const at = storeClock.now() + operation.dueInMs
    if (operation.kind === 'put') return this.#put(life, operation, at)
    if (operation.kind === 'put-again') return this.#putAgain(life, operation, at)
    return this.#reschedule(life, operation.key, at)
  }

  async #cancel({ race }: Life, key: string): Promise<void> {
    const { races, answers } = this.#parts
    const result = await race.ticks(POOL).pool.cancel(key)
    answers.cancelled(key, result)
    if (result === 'due') races['a cancel came too late'] += 1
  }

  async #reschedule({ race }: Life, key: string, at: number): Promise<void> {
    const { races, answers } = this.#parts
    const { pool } = race.ticks(POOL)
    const { entries } = await pool.list({ key, limit: 1 })
    if (entries[0] === undefined) return
    const from = entries[0].at
    const answer = await pool.reschedule(key, from, at)
    answers.rescheduled({ key, slot: from === null ? null : from.getTime(), at }, answer)
    if (answer.kind === 'moved') races['a tick was moved to another time'] += 1
  }

  async #put(life: Life, { key, onConflict, tx: ending }: Put, at: number): Promise<void> {
    const { answers } = this.#parts
    const { pool } = life.race.ticks(POOL)
    if (ending !== null) {
      const tx = new LateTransaction()
      const payload = answers.ask({ key, at, onConflict }, 'transaction')
      await pool.put(key, { at, onConflict, payload, tx })
      this.#end(life, tx, { ...ending, payload })
      return
    }
    const payload = answers.ask({ key, at, onConflict }, 'itself')
    const { result, dueAt, tally } = await pool.put(key, { at, onConflict, payload })
    answers.put(payload, { result, dueAt: dueAt.getTime(), tally })
  }

  /** Made again until it is answered, each time at whoever serves. */
  async #putAgain(first: Life, operation: PutAgain, at: number): Promise<void> {
    const { clock, answers } = this.#parts
    const { key, onConflict } = operation
    const payload = answers.ask({ key, at, onConflict }, 'id')
    const repeat = { id: clock.id(), fingerprint: key, keepMs: KEPT_MS }
    const put = { key, at, payload: String(payload), lane: 'normal' as const, group: key, onConflict }
    let life: Life | null = first
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      try {
        if (life === null) throw new Error('nobody serves')
        this.#underWay.set(operation, life)
        const asked = life.race.ticks(POOL).pool.request({ puts: [put], repeat })
        this.#putAnswered(payload, await this.#whileAlive(life, asked), tries)
        return
      } catch {
        await clock.sleep(TRY_AGAIN_MS)
        life = this.#pick()
      }
    }
    throw new Error('given up')
  }

  #putAnswered(payload: number, response: PutResponse, tries: number): void {
    const { races, answers } = this.#parts
    if (response.kind !== 'answered') return
    for (const answer of response.answers) answers.put(payload, answer)
    if (response.replayed) races['a put was made again, and had been done'] += 1
    else if (tries > 1) races['a put was made again, and had not been done'] += 1
  }

  async #append(life: Life, { key, tx: ending }: Append): Promise<void> {
    const topic = life.race.topic(TOPIC)
    const event = { id: this.#parts.clock.id(), key, value: null }
    if (ending === null) {
      const [place] = await topic.append(event)
      this.#appended.set(event.id, place ?? null)
      return
    }
    const tx = new LateTransaction()
    this.#undone.add(event.id)
    await topic.append([event], { tx })
    this.#end(life, tx, ending)
  }

  #end(life: Life, tx: LateTransaction, { endsInMs, commits, payload }: Ending & { payload?: number }): void {
    const { clock, arrivals, answers, races } = this.#parts
    this.#open += 1
    clock.timer(endsInMs, () => {
      this.#open -= 1
      if (!commits || !this.#parts.isConnected(life) || arrivals.isLost(tx)) {
        races['a transaction was rolled back'] += 1
        return
      }
      arrivals.commit(tx)
      if (payload !== undefined) answers.committed(payload)
      for (const { what } of tx.events) {
        this.#undone.delete(what.id)
        this.#appended.set(what.id, null)
      }
    })
  }
}
