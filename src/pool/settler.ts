// Settles runs in batches, each under the epoch that it was taken with, until the store has answered or the partition is
// another's. One that the store refuses to write holds up no other. Rules [X15] and [X19] of docs/spec/work.md.
import { Batcher } from '../batcher.ts'
import type { Clock, Timer } from '../clock.ts'
import { HeadraceError, assert, isRefused, messageOf } from '../errors.ts'
import { type Claim, type Held, poolResource } from '../fence.ts'
import { RetryDelay } from '../retry-delay.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { EndWord, Telemetry } from '../telemetry.ts'
import { tellable } from './describe-error.ts'
import type { Flight } from './run.ts'
import type { Outcome, Settlement } from './settle.ts'
import type { Steps } from './steps.ts'
import type { Entries, SettleAnswer } from './store.ts'

export interface SettlerParts {
  pool: string
  entries: Pick<Entries, 'settle'>
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  steps: Steps
  /** The store has answered, one for each. */
  settled(flights: readonly Flight[], answers: readonly SettleAnswer[]): void
  /** It will not be settled: its partition is another's, the store refuses it, or the worker has stopped. */
  letGo(flight: Flight): void
}

/** The most settlements of one call. */
const BATCH = 3000
/** How many calls may be under way: while one is being written for good the next is at work. */
const AT_ONCE = 3
/** How long a run rests that the store would not settle, before it is tried or made again. */
const REST_MS = 10_000
/** The same, at first, of one whose turn is gone and was given again. */
const FIRST_REST_MS = 50
/** Of how many keys it is known that their turns were gone. */
const MOST_GONE = 1000

/** Under which name an outcome is counted. */
const COUNTED = {
  done: 'done',
  again: 'again',
  retry: 'retried',
  dead: 'dead',
  cancel: 'cancelled',
} as const satisfies Record<Outcome['kind'], EndWord>

export class Settler {
  readonly #parts: SettlerParts
  readonly #batcher: Batcher<Flight, void>
  readonly #over = new AbortController()
  readonly #waiters = new Set<() => void>()
  readonly #resting = new Map<Flight, Timer>()
  /** Those of which the store refused to write how they ended: they are to be dead instead. */
  readonly #refused = new WeakSet<Flight>()
  /** By the key: its turn that was gone, and how often it was given again. */
  readonly #gone = new Map<string, { turn: number; times: number }>()
  #pending = 0

  constructor(parts: SettlerParts) {
    this.#parts = parts
    this.#batcher = new Batcher({
      clock: parts.clock,
      size: BATCH,
      atOnce: AT_ONCE,
      weigh: () => 1,
      run: (flights) => this.#settleAll(flights),
    })
  }

  add(flight: Flight, outcome: Outcome): void {
    flight.outcome = outcome
    this.#pending += 1
    this.#batcher.push(flight)
  }

  /** Resolves when all is answered; after `withinMs` nothing is tried again. */
  async end(withinMs: number): Promise<void> {
    this.#letGoResting()
    if (this.#pending > 0) {
      const answered = new AbortController()
      this.#waiters.add(() => answered.abort())
      await this.#parts.clock.sleep(withinMs, answered.signal)
    }
    this.#over.abort()
    // What was refused meanwhile.
    this.#letGoResting()
  }

  #letGoResting(): void {
    for (const [flight, timer] of this.#resting) {
      timer.cancel()
      this.#parts.letGo(flight)
    }
    this.#resting.clear()
  }

  async #settleAll(all: Flight[]): Promise<void[]> {
    await this.#settle(all)
    if (this.#pending === 0) for (const wake of this.#waiters) wake()
    return []
  }

  /** Until all of them are answered or let go. While the store is away all wait; what it refuses is sought by halves. */
  async #settle(all: Flight[]): Promise<void> {
    const { clock, telemetry, pool } = this.#parts
    const delay = new RetryDelay(clock)
    for (let rest = this.#ours(all); rest.length > 0; rest = this.#ours(rest)) {
      const error = await this.#settleOnce(rest)
      if (error === null) return
      if (error instanceof HeadraceError && error.retryable) {
        telemetry.emit('work.failed', { pool, error, retryInMs: delay.nextMs })
        await delay.wait(this.#over.signal)
      } else if (rest.length > 1) {
        const half = Math.ceil(rest.length / 2)
        await this.#settle(rest.slice(0, half))
        rest = rest.slice(half)
      } else {
        this.#refuse(rest[0] as Flight, error)
        return
      }
    }
  }

  /** Those that may be settled; the others are let go. */
  #ours(all: Flight[]): Flight[] {
    const { ownership } = this.#parts
    const isOver = this.#over.signal.aborted
    return all.filter((flight) => {
      if (!isOver && ownership.maySettle(flight.fence)) return true
      this.#pending -= 1
      this.#parts.letGo(flight)
      return false
    })
  }

  /** Null: the store has answered. Only its own errors are answered: those of ours are no reason to try again. */
  async #settleOnce(flights: Flight[]): Promise<Error | null> {
    const { entries, pool, clock, steps } = this.#parts
    const claim = claimOf(flights)
    const began = clock.mono()
    let answers: SettleAnswer[]
    try {
      answers = await entries.settle(pool, flights.map(settlementOf), claim)
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error))
    }
    assert(answers.length === flights.length, 'a settle answers each of its runs')
    this.#pending -= flights.length
    const answeredAt = steps.now()
    flights.forEach((flight, nth) => steps.settled(flight, (answers[nth] as SettleAnswer).result, answeredAt))
    const isAgain = flights.map((flight, nth) => this.#restIfGoneAgain(flight, answers[nth] as SettleAnswer))
    const isOver = (_: unknown, nth: number): boolean => isAgain[nth] !== true
    this.#parts.settled(flights.filter(isOver), answers.filter(isOver))
    this.#tell(flights, answers, { claim, tookMs: answeredAt - began })
    return null
  }

  /**
   * A run whose turn is gone, and that was taken again with that very turn, would be made as fast as the store answers. It
   * rests, twice as long each time. [X61]
   */
  #restIfGoneAgain(flight: Flight, answer: SettleAnswer): boolean {
    const { pool, telemetry } = this.#parts
    const { key, turn } = flight.taken
    const known = this.#gone.get(key)
    this.#gone.delete(key)
    if (answer.result !== 'gone') return false
    const times = known?.turn === turn ? known.times + 1 : 0
    this.#gone.set(key, { turn, times })
    if (this.#gone.size > MOST_GONE) this.#gone.delete(this.#gone.keys().next().value as string)
    if (times === 0) return false
    const error = new Error(`the turn ${turn} is gone, and was given ${times + 1} times`)
    const { kind } = outcomeOf(flight)
    telemetry.emit('run.unsettled', { pool, key, outcome: kind, error, isDead: false })
    const restMs = Math.min(REST_MS, FIRST_REST_MS * 2 ** (times - 1))
    this.#rest(flight, () => this.#parts.settled([flight], [answer]), restMs)
    return true
  }

  #tell(
    flights: Flight[],
    answers: SettleAnswer[],
    { claim, tookMs }: { claim: Claim; tookMs: number },
  ): void {
    const { ownership, pool, telemetry } = this.#parts
    const counts = { settled: 0, gone: 0, refused: 0 }
    const ends = { done: 0, again: 0, retried: 0, dead: 0, cancelled: 0 }
    const refused = new Set<number>()
    answers.forEach(({ result }, nth) => {
      const flight = flights[nth] as Flight
      counts[result] += 1
      if (result === 'settled') ends[COUNTED[outcomeOf(flight).kind]] += 1
      else if (result === 'refused') refused.add(flight.fence.partition)
    })
    telemetry.emit('work.settled', { pool, ...counts, ends, tookMs })
    if (refused.size === 0) return
    ownership.lose(claim, [...refused])
    const resource = poolResource(pool)
    telemetry.emit('fence.refused', { resource, partitions: refused.size, runs: counts.refused })
  }

  /**
   * The store cannot write how this one ended. What it says it would always refuse is dead instead, in words of ours; if
   * that is refused as well the run rests, and is made again. What is not known to be a refusal is sent again. [X19]
   */
  #refuse(flight: Flight, error: Error): void {
    const { kind } = outcomeOf(flight)
    const { pool, telemetry } = this.#parts
    const isDead = isRefused(error) && !this.#refused.has(flight)
    telemetry.emit('run.unsettled', { pool, key: flight.taken.key, outcome: kind, error, isDead })
    if (isDead) {
      const told = tellable(`the store refused the outcome ${kind}: ${error.message}`)
      flight.outcome = { kind: 'dead', reason: 'unsettled', error: told }
      this.#refused.add(flight)
      this.#batcher.push(flight)
      return
    }
    this.#pending -= 1
    this.#rest(flight, () => {
      if (isRefused(error)) this.#parts.letGo(flight)
      else {
        this.#pending += 1
        this.#batcher.push(flight)
      }
    })
  }

  /** Its key stays in flight meanwhile. */
  #rest(flight: Flight, then: () => void, restMs = REST_MS): void {
    if (this.#over.signal.aborted) {
      this.#parts.letGo(flight)
      return
    }
    const timer = this.#parts.clock.timer(restMs, () => {
      this.#resting.delete(flight)
      then()
    })
    this.#resting.set(flight, timer)
  }
}

/** All of them are held now, so they are one owner's, and each partition has one epoch. */
export function claimOf(flights: readonly Pick<Flight, 'fence' | 'owner'>[]): Claim {
  const held = new Map<number, Held>()
  for (const { fence } of flights) held.set(fence.partition, fence)
  return { owner: flights[0]?.owner ?? '', held: [...held.values()] }
}

function outcomeOf({ outcome }: Flight): Outcome {
  assert(outcome !== null, 'what is settled has ended')
  return outcome
}

function settlementOf(flight: Flight): Settlement {
  const { key, slot, turn, seen, payloads, place } = flight.taken
  const settlement: Settlement = { key, slot, turn, seen, outcome: outcomeOf(flight) }
  if (place !== undefined) settlement.place = place
  if (payloads !== undefined) settlement.seenPayloads = payloads.length
  return settlement
}
