// One sleeper that can be woken sooner. A wake-up that comes while nobody sleeps shortens the next sleep, so
// a hint between "look" and "sleep" is not lost.
import type { Clock } from './clock.ts'

export class Alarm {
  readonly #clock: Clock
  #earliest = Infinity
  #shorten: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Forgets earlier wake-ups; call it before the look that decides how long to sleep. */
  reset(): void {
    this.#earliest = Infinity
  }

  /** Wakes the sleeper no later than this wall time. */
  wakeBy(at: number): void {
    if (at >= this.#earliest) return
    this.#earliest = at
    this.#shorten?.()
  }

  /** Sleeps until the wall time `at` (null: until woken), never less than `atLeastMs`, or until the signal fires. */
  async sleepUntil(at: number | null, atLeastMs: number, signal: AbortSignal): Promise<void> {
    this.wakeBy(at ?? Infinity)
    if (atLeastMs > 0) await this.#clock.sleep(atLeastMs, signal)
    while (!signal.aborted && this.#clock.now() < this.#earliest) {
      await this.#nap(Math.min(this.#earliest - this.#clock.now(), LOOK_AGAIN_MS), signal)
    }
  }

  #nap(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        signal.removeEventListener('abort', end)
        this.#shorten = null
        resolve()
      }
      const timer = this.#clock.timer(delayMs, end)
      signal.addEventListener('abort', end, { once: true })
      this.#shorten = end
    })
  }
}

/** Sleeps are measured on the monotonic clock; looking again this often bounds the harm of a wall clock's jump. */
const LOOK_AGAIN_MS = 10_000
