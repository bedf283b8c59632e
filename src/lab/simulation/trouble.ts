// What happens to the store as a whole: it answers nobody for a while, or its clock jumps. And what must not come of it:
// one such trouble costs no member its place, as long as the member itself is well. [K5]
import type { MemberClock } from '../../testing/member-clock.ts'
import type { VirtualClock } from '../../testing/virtual-clock.ts'
import type { RaceCounts } from './sometimes.ts'

export interface TroubleParts {
  clock: VirtualClock
  storeClock: MemberClock
  races: RaceCounts
  leaseMs: number
}

/** Two troubles that are closer than so many leases may cost a member its place. */
const APART_LEASES = 3

export class Trouble {
  readonly #parts: TroubleParts
  /** The store answers nobody. */
  isDown = false
  /** Outages that have not ended; they may overlap. */
  #outages = 0
  /** How many that lived were declared dead. */
  #declared = 0
  #endsAt = -Infinity
  #tangledUntil = -Infinity

  constructor(parts: TroubleParts) {
    this.#parts = parts
  }

  outage(ms: number): void {
    const { clock, races, leaseMs } = this.#parts
    this.#note(ms)
    this.isDown = true
    this.#outages += 1
    clock.timer(ms, () => {
      this.#outages -= 1
      if (this.#outages === 0) this.isDown = false
    })
    const before = this.#declared
    if (ms <= leaseMs) return
    clock.timer(ms + 2 * leaseMs, () => {
      if (this.#declared === before) races['an outage longer than the lease cost nobody a partition'] += 1
    })
  }

  /** Sets the store's clock forward or back. */
  jump(ms: number): void {
    const { storeClock, races } = this.#parts
    this.#note(0)
    storeClock.skewMs += ms
    if (ms < 0) races['the store’s clock was set back'] += 1
  }

  /** A clock that was set back stays so: what was written before may lie in the future. */
  heal(): void {
    this.isDown = false
    this.#note(0)
  }

  /** One that lives was declared dead; whether it must not have been, if nothing but the store was in trouble. */
  declared(): boolean {
    this.#declared += 1
    return this.#parts.clock.mono() > this.#tangledUntil
  }

  #note(ms: number): void {
    const { clock, leaseMs } = this.#parts
    const began = clock.mono()
    const isClose = began < this.#endsAt + APART_LEASES * leaseMs
    this.#endsAt = Math.max(this.#endsAt, began + ms)
    if (isClose) this.#tangledUntil = this.#endsAt + APART_LEASES * leaseMs
  }
}
