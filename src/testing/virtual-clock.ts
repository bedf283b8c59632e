// A clock that stands still until a test moves it. Timers fire in order, and promises settle between them.
import { type Clock, LONGEST_TIMER_MS, type Timer, sleepOn, systemClock } from '../clock.ts'
import { type Random, createRandom } from '../random.ts'

/** Where virtual time begins. */
export const START = Date.UTC(2027, 0, 1)

/** The most event-loop turns that one settling may take; more means that something spins. */
const MOST_TURNS = 10_000

/** So often a clock that is alone takes a turn of the event loop. */
const TURN_EVERY = 1000

interface PendingTimer {
  at: number
  call(): void
}

export class VirtualClock implements Clock {
  readonly #random: Random
  readonly #timers = new Set<PendingTimer>()
  #now = START
  #mono = 0
  #ids = 0
  /** What waits for the next turn of the event loop. */
  readonly #turns: (() => void)[] = []
  readonly #isAlone: boolean
  #rests = 0

  /** `alone`: nothing but promises and this clock is waited for, no file and no socket. Then settling costs a tenth. */
  constructor(seed = 1, { alone = false } = {}) {
    this.#random = createRandom(seed)
    this.#isAlone = alone
  }

  now(): number {
    return Math.floor(this.#now)
  }

  mono(): number {
    return this.#mono
  }

  /** As on the system's clock a longer delay is cut: who needs one must look again. */
  timer(delayMs: number, call: () => void): Timer {
    const delay = Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS)
    const timer = { at: this.#mono + delay, call }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  turn(call: () => void): void {
    this.#turns.push(call)
    if (this.#isAlone) return
    systemClock.turn(() => this.#turns.shift()?.())
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal)
  }

  random(): number {
    return this.#random.next()
  }

  id(): string {
    this.#ids += 1
    return `id-${String(this.#ids).padStart(4, '0')}`
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size
  }

  /** Moves time forward, stopping at each timer on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.#mono + ms
    await this.settle()
    for (let timer = this.#first(end); timer !== undefined; timer = this.#first(end)) {
      this.#forward(timer.at - this.#mono)
      this.#fire(timer)
      await this.settle()
    }
    this.#forward(end - this.#mono)
  }

  /** Moves time forward in one step, however far; each timer that fell due meanwhile fires once, late. */
  async leap(ms: number): Promise<void> {
    await this.settle()
    this.#forward(ms)
    const due = [...this.#timers].filter(({ at }) => at <= this.#mono).toSorted((a, b) => a.at - b.at)
    for (const timer of due) this.#fire(timer)
    await this.settle()
  }

  /** Sets the wall clock forward or back, as an operator might; monotonic time does not notice. */
  jumpWall(ms: number): void {
    this.#now += ms
  }

  /** Waits until promises and event-loop turns that are under way have come to rest; no time passes. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns += 1) {
      await this.#rest()
      if (this.#turns.length === 0) return
      if (this.#isAlone) this.#turns.shift()?.()
    }
    throw new Error('virtual time does not come to rest')
  }

  /** Resolves when no promise is left to settle. */
  #rest(): Promise<void> {
    this.#rests += 1
    // Now and then by a turn all the same: what is no longer used is cleared away in one.
    if (!this.#isAlone || this.#rests % TURN_EVERY === 0)
      return new Promise((resolve) => systemClock.turn(resolve))
    // A tick that is asked for by a promise's own callback comes after all of those.
    return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
  }

  #forward(ms: number): void {
    this.#mono += ms
    this.#now += ms
  }

  #fire(timer: PendingTimer): void {
    if (this.#timers.delete(timer)) timer.call()
  }

  #first(end: number): PendingTimer | undefined {
    let first: PendingTimer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}
