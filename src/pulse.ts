// The pulse: one store call every half second, whatever the number of pools. It carries the member's beat, and
// catches what hints missed. One that is not answered in time is followed by the next at once.
import type { Clock } from './clock.ts'
import { HeadraceError } from './errors.ts'
import { Service } from './service.ts'
import type { Pulse, PulseRequest, Store } from './store.ts'

/** When a pulse was sent, by both clocks of this process. */
export interface Sent {
  mono: number
  wall: number
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
  /** Told of every pulse that was answered in time. */
  notice(pulse: Pulse, sent: Sent): void
}

/** The shortest time between two pulses, however many hints come. */
const SHORTEST_MS = 20

export class PulseLoop {
  readonly service: Service
  readonly #parts: PulseParts
  readonly #stop = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #answeredAt: number
  #wake: (() => void) | null = null

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
    this.#wake?.()
  }

  async #start(): Promise<void> {
    await this.#beat()
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
        await this.#beat()
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
    let woken = false
    this.#wake = () => (woken = true)
    await clock.sleep(shortestMs, signal)
    if (!woken && !signal.aborted) {
      const cut = new AbortController()
      this.#wake = () => cut.abort()
      await clock.sleep(delayMs - shortestMs, AbortSignal.any([signal, cut.signal]))
    }
    this.#wake = null
  }

  async #beat(): Promise<void> {
    const { store, clock, withinMs } = this.#parts
    const sent = { mono: clock.mono(), wall: clock.now() }
    const pulse = await within(clock, withinMs, store.pulse(this.#parts.request()))
    this.#answeredAt = clock.mono()
    this.#parts.notice(pulse, sent)
  }
}

/** The answer, or an error if it does not come in time; a late one is dropped. */
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
    answered.abort()
    answer.catch(() => undefined)
    late.catch(() => undefined)
  }
}
