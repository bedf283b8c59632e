// The pulse: one store call every half second, whatever the number of pools. It carries the member's beat, and
// catches what hints missed. One that is not answered in time is followed by the next at once; its answer still counts
// when it comes, unless a later one has: a store that is slow for one member must not leave that one in doubt for ever.
import type { Clock, Timer } from './clock.ts'
import { HeadraceError } from './errors.ts'
import { Service } from './service.ts'
import type { Pulse, PulseRequest, Store } from './store.ts'
import type { Emitter } from './telemetry.ts'

/** When a pulse was sent, by both clocks of this process. */
export interface Sent {
  mono: number
  wall: number
}

/** A pulse that was sent, and by which member. */
export interface SentPulse extends Sent {
  /** Null: it carried no beat. */
  member: string | null
}

/** How the last pulse went that was answered, failed or was given up. */
export interface PulseOutcome {
  tookMs: number
  /** Why the store refuses writes though it answers; null if it does not. */
  refusal: string | null
  /** What the pulse failed with; null if it was answered. */
  error: unknown
}

export interface PulseParts {
  store: Pick<Store, 'pulse'>
  clock: Clock
  telemetry: Emitter
  everyMs: number
  /** How long an answer is waited for. */
  withinMs: number
  /** What the next pulse asks. */
  request(): PulseRequest
  /** Whether something that should turn does not: then no pulse is sent. [H5] */
  isStuck(): boolean
  /** Told of every pulse that was answered, in the order in which they were sent. */
  notice(pulse: Pulse, sent: SentPulse): void
}

/** The shortest time between two pulses, however many hints come. */
const SHORTEST_MS = 20

/** How long the first answer is waited for at least: a start may meet a store that is locked, or that many start on. */
const FIRST_WITHIN_MS = 5000

export class PulseLoop {
  readonly service: Service
  readonly #parts: PulseParts
  #isStopped = false
  #loop: Promise<void> = Promise.resolve()
  #answeredAt: number
  #outcome: PulseOutcome | null = null
  /** When the last pulse was sent whose answer was told. */
  #toldOf = -Infinity
  /** The next pulse is wanted sooner; also while one is under way, which may have been too early to tell. */
  #isWanted = false
  /** The last pulse failed, or was not answered in time. */
  #isSilent = false
  /** Ends a sleep: one may be cut short by a wish, or by the stop alone. */
  #wake: () => void = () => undefined
  #mayBeWoken = false

  constructor(parts: PulseParts) {
    this.#parts = parts
    this.#answeredAt = parts.clock.mono()
    this.service = new Service({
      name: 'pulse',
      start: () => this.#start(),
      stop: async () => {
        this.#isStopped = true
        this.#wake()
        await this.#loop
      },
    })
  }

  /** How long ago the store last answered a pulse. */
  get ageMs(): number {
    return this.#parts.clock.mono() - this.#answeredAt
  }

  /** How the last pulse went; null before the first. A health check reads this, and asks the store nothing. */
  get outcome(): PulseOutcome | null {
    return this.#outcome
  }

  /** Sends the next pulse now rather than at its time. */
  soon(): void {
    this.#isWanted = true
    if (this.#mayBeWoken) this.#wake()
  }

  async #start(): Promise<void> {
    await this.#beat(Math.max(FIRST_WITHIN_MS, this.#parts.withinMs))
    this.#loop = this.#run()
  }

  async #run(): Promise<void> {
    const { everyMs, clock } = this.#parts
    let pauseMs = everyMs
    while (!this.#isStopped) {
      await this.#sleep(pauseMs)
      pauseMs = everyMs
      if (this.#isStopped || this.#parts.isStuck()) continue
      const sentAt = clock.mono()
      try {
        await this.#beat(this.#parts.withinMs)
      } catch (error) {
        this.#missed(error)
        // What failed at once is not tried again at once.
        pauseMs = Math.max(0, everyMs / 5 - (clock.mono() - sentAt))
      }
    }
  }

  /** Sleeps, at least the shortest time, until woken. */
  async #sleep(delayMs: number): Promise<void> {
    const shortestMs = Math.min(SHORTEST_MS, delayMs)
    await this.#nap(shortestMs)
    if (this.#isWanted || this.#isStopped) return
    this.#mayBeWoken = true
    await this.#nap(delayMs - shortestMs)
    this.#mayBeWoken = false
  }

  /** Without signals: to join that of the stop with one for each nap cost more than all the rest of a pulse. */
  #nap(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = timerFor(this.#parts.clock, delayMs, resolve)
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  async #beat(withinMs: number): Promise<void> {
    const { store, clock } = this.#parts
    this.#isWanted = false
    const request = this.#parts.request()
    const sent = { mono: clock.mono(), wall: clock.now(), member: request.beat?.member ?? null }
    try {
      await within(
        clock,
        withinMs,
        store.pulse(request).then((pulse) => this.#tell(pulse, sent)),
      )
    } catch (error) {
      // A later pulse may have been answered meanwhile.
      if (sent.mono >= this.#toldOf) {
        this.#outcome = { tookMs: clock.mono() - sent.mono, refusal: null, error: error ?? 'failed' }
      }
      throw error
    }
  }

  #missed(error: unknown): void {
    if (this.#isStopped) return
    this.#isSilent = true
    this.#parts.telemetry.emit('store.silent', { forMs: this.ageMs, error })
  }

  #tell(pulse: Pulse, sent: SentPulse): void {
    if (this.#isStopped || sent.mono < this.#toldOf) return
    this.#toldOf = sent.mono
    if (this.#isSilent) this.#parts.telemetry.emit('store.answered', { afterMs: this.ageMs })
    this.#isSilent = false
    this.#answeredAt = this.#parts.clock.mono()
    this.#outcome = { tookMs: this.#answeredAt - sent.mono, refusal: pulse.refusal, error: null }
    this.#parts.notice(pulse, sent)
  }
}

/** The answer, or an error if it does not come in time. */
function within<Answer>(clock: Clock, delayMs: number, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = timerFor(clock, delayMs, () => {
      const late = `the store did not answer a pulse within ${delayMs} ms`
      reject(
        new HeadraceError('store_failed', late, {
          remedy: 'see whether the store is overloaded, or the network slow',
        }),
      )
    })
    void answer.then(resolve, reject).then(() => timer.cancel())
  })
}

/** Calls back after any delay: a clock's own timers are no longer than a minute. */
function timerFor(clock: Clock, delayMs: number, call: () => void): Timer {
  const end = clock.mono() + delayMs
  const arm = (): Timer => clock.timer(end - clock.mono(), ring)
  const ring = (): void => {
    if (clock.mono() >= end) call()
    else timer = arm()
  }
  let timer = arm()
  return { cancel: () => timer.cancel() }
}
