// What the store does after a pulse: forget requests and fired slots whose time is over, in bounded
// pieces, and rarely, since every member does it.
import type { Clock } from '../../clock.ts'
import type { Emitter } from '../../telemetry.ts'
import type { Connections } from './connections.ts'
import { OTHER } from './pools.ts'

export interface HousekeepingParts {
  connections: Connections
  clock: Clock
  telemetry: Emitter
}

const EVERY_MS = 20_000
const LIMIT = 2000
/** Up to 40,000 of each at a time; where that is not enough the next pulse goes on. */
const ROUNDS = 20

export class Housekeeping {
  readonly #parts: HousekeepingParts
  #nextAt: number
  #running: Promise<void> | null = null

  constructor(parts: HousekeepingParts) {
    this.#parts = parts
    // Not all members at once.
    this.#nextAt = parts.clock.mono() + parts.clock.random() * EVERY_MS
  }

  /** Begins, if it is time. The pulse does not wait for it; a failure is reported, and tried again later. */
  begin(): void {
    const now = this.#parts.clock.mono()
    if (this.#running !== null || now < this.#nextAt) return
    this.#nextAt = now + EVERY_MS
    this.#running = this.#forget()
      .catch((error: unknown) => this.#parts.telemetry.emit('store.failed', { error }))
      .finally(() => (this.#running = null))
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#running
  }

  async #forget(): Promise<void> {
    for (const chore of ['forget_requests', 'forget_fired']) {
      let gone = LIMIT
      for (let round = 0; gone === LIMIT && round < ROUNDS; round += 1) {
        const [row] = await this.#parts.connections.query(chore, [LIMIT], OTHER)
        gone = row?.['gone'] as number
      }
      if (gone === LIMIT) this.#nextAt = this.#parts.clock.mono()
    }
  }
}
