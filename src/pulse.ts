// The pulse: one store call every half second, whatever the number of pools. It carries the member's beat, and
// catches what hints missed. One that is not answered in time is followed by the next at once; its answer still counts
// when it comes, unless a later one has: a store that is slow for one member must not leave that one in doubt for ever.
import type { Clock } from './clock.ts'
import { HeadraceError } from './errors.ts'
import { Service } from './service.ts'
import type { Pulse, PulseRequest, Store } from './store.ts'

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

export interface PulseParts {
  store: Pick<Store, 'pulse'>
  clock: Clock
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
  readonly #stop = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #answeredAt: number
  /** When the last pulse was sent whose answer was told. */
  #toldOf = -Infinity
  /** The next pulse is wanted sooner; also while one is under way, which may have been too early to tell. */
  #isWanted = false
  #wake: () => void = () => undefined

  constructor(parts: PulseParts) {
    this.#parts = parts
    this.#answeredAt = parts.clock.mono()
    this.service = new Service({
      name: 'pulse',
      start: () => this.#start(),
      stop: async () => {
        this.#stop.abort()
        await this.#loop
      },
    })
  }

  /** How long ago the store last answered a pulse. */
  get ageMs(): number {
    return this.#parts.clock.mono() - this.#answeredAt
  }

  /** Sends the next pulse now rather than at its time. */
  soon(): void {
    this.#isWanted = true
    this.#wake()
  }

  async #start(): Promise<void> {
    await this.#beat(Math.max(FIRST_WITHIN_MS, this.#parts.withinMs))
    this.#loop = this.#run(this.#stop.signal)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { everyMs, clock } = this.#parts
    let pauseMs = everyMs
    while (!signal.aborted) {
      await this.#sleep(pauseMs, signal)
      pauseMs = everyMs
      if (signal.aborted || this.#parts.isStuck()) continue
      const sentAt = clock.mono()
      try {
        await this.#beat(this.#parts.withinMs)
      } catch {
        // It shows as the pulse's age. What failed at once is not tried again at once.
        pauseMs = Math.max(0, everyMs / 5 - (clock.mono() - sentAt))
      }
    }
  }

  /** Sleeps, at least the shortest time, until woken. */
  async #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    const shortestMs = Math.min(SHORTEST_MS, delayMs)
    await clock.sleep(shortestMs, signal)
    if (!this.#isWanted && !signal.aborted) {
      const cut = new AbortController()
      // With a reason of its own: an abort without one makes an error, at the price of the rest of a pulse.
      const wake = (): void => cut.abort('wanted')
      this.#wake = wake
      signal.addEventListener('abort', wake, { once: true })
      await clock.sleep(delayMs - shortestMs, cut.signal)
      signal.removeEventListener('abort', wake)
    }
  }

  async #beat(withinMs: number): Promise<void> {
    const { store, clock } = this.#parts
    this.#isWanted = false
    const request = this.#parts.request()
    const sent = { mono: clock.mono(), wall: clock.now(), member: request.beat?.member ?? null }
    await within(
      clock,
      withinMs,
      store.pulse(request).then((pulse) => this.#tell(pulse, sent)),
    )
  }

  #tell(pulse: Pulse, sent: SentPulse): void {
    if (this.#stop.signal.aborted || sent.mono < this.#toldOf) return
    this.#toldOf = sent.mono
    this.#answeredAt = this.#parts.clock.mono()
    this.#parts.notice(pulse, sent)
  }
}

/** The answer, or an error if it does not come in time. */
async function within<Answer>(clock: Clock, delayMs: number, answer: Promise<Answer>): Promise<Answer> {
  const answered = new AbortController()
  const late = clock.sleep(delayMs, answered.signal).then(() => {
    if (answered.signal.aborted) return answer
    throw new HeadraceError('store_failed', `the store did not answer a pulse within ${delayMs} ms`, {
      remedy: 'see whether the store is overloaded, or the network slow',
    })
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    answered.abort('answered')
    answer.catch(() => undefined)
    late.catch(() => undefined)
  }
}
