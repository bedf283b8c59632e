// Calls handlers, aborts them, and tells what became of each. Knows nothing of takes and settles.
// Rules [X11] to [X18] of docs/spec/work.md.
import type { Clock, Timer } from '../clock.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { StoreTime } from '../store-time.ts'
import type { Telemetry } from '../telemetry.ts'
import { type Answer, type EndContext, outcomeOf, outcomeOfThrow } from './answer.ts'
import type { Progress } from './progress.ts'
import {
  type AbortCause,
  type Flight,
  type Handler,
  StartedContext,
  StartedRun,
  type ContextParts,
} from './run.ts'
import type { Outcome } from './settle.ts'
import type { Steps } from './steps.ts'
import type { WorkRules } from './work-options.ts'

export interface RunnerParts<Payload> {
  pool: string
  handler: Handler<Payload>
  rules: WorkRules
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  time: StoreTime
  /** Keeps what runs tell of themselves. */
  progress: Pick<Progress, 'tell' | 'ended'>
  steps: Steps
  /** The handler has ended; with null the run is let go. */
  ended(flight: Flight, outcome: Outcome | null): void
  /** The handler does not heed its abort. */
  ignored(flight: Flight): void
}

/** A handler that has not ended so long after its abort is reported. */
const HEED_WITHIN_MS = 1000

const DONE: Outcome = { kind: 'done' }

export class Runner<Payload> {
  readonly #parts: RunnerParts<Payload>
  readonly #running = new Set<Flight>()
  /** The run whose handler is being called: most of those that end at once are never among the running. */
  #called: Flight | null = null
  readonly #timeouts = new Map<Flight, Timer>()
  /** Those that were reported since they do not heed their abort: nobody waits for them. [X18] */
  readonly #ignoring = new Set<Flight>()
  readonly #waiters = new Set<() => void>()
  #guard: Timer | null = null
  readonly #context: ContextParts

  constructor(parts: RunnerParts<Payload>) {
    this.#parts = parts
    const tell: ContextParts['tell'] = (flight, value) => {
      if (this.running.has(flight) && !flight.isAbandoned) parts.progress.tell(flight, value)
    }
    this.#context = { ...parts, tell }
  }

  /** How many handlers have not ended. */
  get size(): number {
    return this.running.size
  }

  /** The runs whose handlers have not ended. */
  get running(): ReadonlySet<Flight> {
    if (this.#called !== null) this.#running.add(this.#called)
    this.#called = null
    return this.#running
  }

  start(flight: Flight): void {
    const { handler, rules } = this.#parts
    const context = new StartedContext(flight, this.#context)
    flight.context = context
    if (this.#called !== null) this.#running.add(this.#called)
    this.#called = flight
    this.#watchTrust()
    if (rules.timeoutMs !== null) this.#timeOut(flight, rules.timeoutMs)
    this.#parts.steps.started(flight)
    try {
      const answer = handler(new StartedRun<Payload>(flight.taken), context)
      if (isPromise(answer)) this.#await(flight, answer)
      else this.#returned(flight, answer)
    } catch (error) {
      this.#threw(flight, error)
    }
  }

  #await(flight: Flight, answer: PromiseLike<Answer | void>): void {
    if (this.#called === flight) {
      this.#called = null
      this.#running.add(flight)
    }
    answer.then(
      (late) => this.#returned(flight, late),
      (error: unknown) => this.#threw(flight, error),
    )
  }

  /** Aborts the runs of which this is true. */
  abort(why: AbortCause, isMeant: (flight: Flight) => boolean = () => true): void {
    for (const flight of this.running) if (isMeant(flight)) this.#abort(flight, why)
  }

  /** Resolves when no handler runs that is worth waiting for, or after `withinMs`. */
  async idle(withinMs: number): Promise<void> {
    if (this.#isIdle) return
    const ended = new AbortController()
    const wake = (): void => ended.abort()
    this.#waiters.add(wake)
    await this.#parts.clock.sleep(withinMs, ended.signal)
    this.#waiters.delete(wake)
  }

  get #isIdle(): boolean {
    return this.size === this.#ignoring.size
  }

  /** Gives up what still runs. */
  abandon(): void {
    this.#guard?.cancel()
    this.#guard = null
    for (const timer of this.#timeouts.values()) timer.cancel()
  }

  #returned(flight: Flight, answer: Answer | void): void {
    if (!this.#finish(flight)) return
    this.#tellEnded(flight, answer === undefined ? DONE : this.#outcomeOf(flight, answer))
  }

  #threw(flight: Flight, error: unknown): void {
    if (this.#finish(flight)) this.#tellEnded(flight, this.#failed(flight, error))
  }

  #outcomeOf(flight: Flight, answer: Answer): Outcome | null {
    try {
      const outcome = outcomeOf(answer ?? undefined, this.#endOf(flight))
      if (outcome.kind === 'retry' || outcome.kind === 'dead') this.#tellFailed(flight, outcome, null)
      return outcome
    } catch (error) {
      // An answer that was made by hand, and cannot be read.
      return this.#failed(flight, error)
    }
  }

  #failed(flight: Flight, error: unknown): Outcome | null {
    const why = flight.context?.why ?? null
    if (why !== null && why !== 'timeout') return null
    const outcome = outcomeOfThrow(error, this.#endOf(flight))
    this.#tellFailed(flight, outcome, error)
    return outcome
  }

  #tellFailed({ taken: { key, attempt } }: Flight, outcome: Outcome, error: unknown): void {
    const { pool, telemetry, time } = this.#parts
    if (!telemetry.hears('run.failed')) return
    const retryInMs = outcome.kind === 'retry' ? outcome.dueAt - time.now() : null
    const isDead = outcome.kind === 'dead'
    const reason = isDead && error === null ? outcome.reason : null
    telemetry.emit('run.failed', { pool, key, attempt: attempt + 1, error, isDead, reason, retryInMs })
  }

  /** Its handler has ended; false: that concerns nobody any more. */
  #finish(flight: Flight): boolean {
    if (this.#called === flight) this.#called = null
    else this.#running.delete(flight)
    this.#parts.progress.ended(flight)
    if (this.#parts.rules.timeoutMs !== null) {
      this.#timeouts.get(flight)?.cancel()
      this.#timeouts.delete(flight)
    }
    if (this.#ignoring.size > 0) this.#ignoring.delete(flight)
    this.#wakeWaiters()
    return !flight.isAbandoned
  }

  #wakeWaiters(): void {
    if (this.#waiters.size > 0 && this.#isIdle) for (const wake of this.#waiters) wake()
  }

  #tellEnded(flight: Flight, how: Outcome | null): void {
    this.#parts.steps.ended(flight, how)
    this.#parts.ended(flight, how)
  }

  #endOf({ taken }: Flight): EndContext {
    const { time, rules, clock } = this.#parts
    return { now: time.now(), failures: taken.attempt, rules: rules.retry, random: clock.random() }
  }

  #abort(flight: Flight, why: AbortCause): void {
    if (flight.context === null || flight.context.why !== null) return
    flight.context.abort(why)
    const { clock, telemetry, pool } = this.#parts
    const report = (): void => {
      if (!this.running.has(flight)) return
      this.#ignoring.add(flight)
      this.#wakeWaiters()
      telemetry.emit('run.ignored', { pool, key: flight.taken.key, why })
      this.#parts.ignored(flight)
    }
    clock.timer(HEED_WITHIN_MS, report, { background: true })
  }

  /** A clock's timers are no longer than a minute. */
  #timeOut(flight: Flight, timeoutMs: number): void {
    const { clock } = this.#parts
    const end = clock.mono() + timeoutMs
    const arm = (): void => {
      const timer = clock.timer(end - clock.mono(), () =>
        clock.mono() < end ? arm() : this.#abort(flight, 'timeout'),
      )
      this.#timeouts.set(flight, timer)
    }
    arm()
  }

  /** Aborts everything when the roster can be trusted no more [X16]. One timer, whatever runs: it looks again when it rings. */
  #watchTrust(): void {
    if (this.#guard !== null || this.#parts.rules.onDoubt === 'finish') return
    const { clock, ownership } = this.#parts
    const ring = (): void => {
      this.#guard = null
      if (ownership.trustedForMs <= 0) this.abort('lost')
      else if (this.size > 0) this.#watchTrust()
    }
    this.#guard = clock.timer(ownership.trustedForMs, ring, { background: true })
  }
}

function isPromise(answer: Answer | void | PromiseLike<Answer | void>): answer is PromiseLike<Answer | void> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}
