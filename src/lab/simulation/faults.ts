// What becomes of each call to the store and of each hint, drawn as they come.
import type { Random } from '../../random.ts'
import type { CallFaults } from './swarm.ts'

export interface Fate {
  kind: 'refused' | 'cut' | 'answered'
  /** How long it is on its way to the store, and back. */
  thereMs: number
  backMs: number
  /** How long its sender stands still before, in leases. */
  stallLeases: number
  /** When its sender dies; null: not of this call. */
  dies: 'before' | 'after' | null
}

const NO_FAULT: Fate = { kind: 'answered', thereMs: 0, backMs: 0, stallLeases: 0, dies: null }

export class Faults {
  readonly #random: Random
  readonly #calls: CallFaults
  #isHealed = false
  /** How many there were. */
  count = 0

  constructor(random: Random, calls: CallFaults) {
    this.#random = random
    this.#calls = calls
  }

  /** From now on nothing goes wrong. */
  heal(): void {
    this.#isHealed = true
  }

  call(): Fate {
    if (this.#isHealed) return NO_FAULT
    const { refused, cut, crash, stalled } = this.#calls
    const drawn = this.#random.next()
    const kind = drawn < refused ? 'refused' : drawn < refused + cut ? 'cut' : 'answered'
    const dies = this.#random.next() < crash ? this.#random.pick(['before', 'after'] as const) : null
    const stallLeases = this.#random.next() < stalled ? 0.5 + 3 * this.#random.next() : 0
    if (kind !== 'answered' || dies !== null || stallLeases > 0) this.count += 1
    return { kind, thereMs: this.#delay(), backMs: this.#delay(), stallLeases, dies }
  }

  /** How long a hint is under way. */
  hint(): 'lost' | number {
    if (this.#isHealed) return 0
    return this.#random.next() < this.#calls.hintLost ? 'lost' : this.#delay()
  }

  #delay(): number {
    const { delayed, longestDelayMs } = this.#calls
    return this.#random.next() < delayed ? Math.round(this.#random.next() * longestDelayMs) : 0
  }
}
