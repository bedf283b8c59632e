// What the last move of a pool passed over because other transactions hold it, so that the next ones neither wait for it
// nor never get it. See docs/decisions/0011.
import type { Clock } from '../../clock.ts'

/** An entry that others hold. */
export interface HeldEntry {
  key: string
  slot: number
}

/** How often a move waits for one of them. */
const WAIT_EVERY_MS = 500

export class PassedOver {
  readonly #clock: Clock
  #entries: readonly HeldEntry[] = []
  #keys: readonly string[] = []
  #waitedAt = -Infinity
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The keys of which later entries filled the last move in vain: the next one leaves them out, the one after not. */
  takeKeys(): readonly string[] {
    const keys = this.#keys
    this.#keys = []
    return keys
  }

  /** The entry that the next move shall wait for, each in its turn; null: none. */
  takeWait(): HeldEntry | null {
    const now = this.#clock.mono()
    if (this.#entries.length === 0 || now - this.#waitedAt < WAIT_EVERY_MS) return null
    this.#waitedAt = now
    return this.#entries[this.#turn++ % this.#entries.length] ?? null
  }

  note(entries: readonly HeldEntry[], keys: readonly string[]): void {
    this.#entries = entries
    this.#keys = keys
  }
}
