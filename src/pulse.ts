// The pulse: one store call every half second, whatever the number of pools. It catches what hints missed.
import type { Clock } from './clock.ts'
import { Service } from './service.ts'
import type { Pulse, Store } from './store.ts'

export const PULSE_MS = 500

export interface PulseParts {
  store: Pick<Store, 'pulse'>
  clock: Clock
  /** Told of every answered pulse. */
  notice(pulse: Pulse): void
}

export class PulseLoop {
  readonly service: Service
  readonly #parts: PulseParts
  readonly #stop = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #answeredAt: number

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

  async #start(): Promise<void> {
    await this.#beat()
    this.#loop = this.#run(this.#stop.signal)
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(PULSE_MS, signal)
      // A failed pulse shows as its age; the next one is half a second away.
      if (!signal.aborted) await this.#beat().catch(() => undefined)
    }
  }

  async #beat(): Promise<void> {
    const pulse = await this.#parts.store.pulse()
    this.#answeredAt = this.#parts.clock.mono()
    this.#parts.notice(pulse)
  }
}
