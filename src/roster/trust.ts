// For how long a member may believe that it holds what it was given, without asking. [H2]
import type { Clock } from '../clock.ts'
import type { Sent } from '../pulse.ts'

export class Trust {
  readonly #clock: Clock
  readonly #trustMs: number
  #sent: Sent | null = null
  #returns = 0

  constructor(clock: Clock, trustMs: number) {
    this.#clock = clock
    this.#trustMs = trustMs
  }

  /** A beat was answered that was sent then: the lease may count from that moment. True: there was none, and is again. */
  renew(sent: Sent): boolean {
    const held = this.holds
    this.#sent = sent
    const isBack = !held && this.holds
    if (isBack) this.#returns += 1
    return isBack
  }

  /** How often it came, or came back. */
  get returns(): number {
    return this.#returns
  }

  /** The store does not know this member any more. */
  lose(): void {
    this.#sent = null
  }

  /** By the larger of both clocks: the monotonic one stands still while a machine sleeps, the wall clock may jump. */
  get holds(): boolean {
    return this.leftMs > 0
  }

  /** For how long it holds yet, unless it is renewed. */
  get leftMs(): number {
    if (this.#sent === null) return 0
    const { mono, wall } = this.#sent
    return this.#trustMs - Math.max(this.#clock.mono() - mono, this.#clock.now() - wall)
  }
}
