// A member's own view of a virtual clock.
import type { Clock } from '../clock.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** A member's view of time: its wall clock may be off, its monotonic clock may stand, and it may be paused. */
export class MemberClock implements Clock {
  readonly #base: VirtualClock
  #held: (() => void)[] | null = null
  #isOver = false
  /** How far its wall clock is off. */
  skewMs = 0
  /** How much the monotonic clock has missed, as while a machine sleeps. */
  sleptMs = 0
  /** Since when it has not been paused, by the clock that it is a view of; Infinity: it is. */
  awakeSince = -Infinity
  /** When it was last paused, by the same clock. */
  pausedAt = -Infinity

  constructor(base: VirtualClock) {
    this.#base = base
  }

  now(): number {
    return this.#base.now() + this.skewMs
  }

  mono(): number {
    return this.#base.mono() - this.sleptMs
  }

  timer(delayMs: number, call: () => void): ReturnType<Clock['timer']> {
    let cancelled = false
    const timer = this.#base.timer(delayMs, () => this.#run(() => cancelled || call()))
    return {
      cancel: () => {
        cancelled = true
        timer.cancel()
      },
    }
  }

  turn(call: () => void): void {
    this.#base.turn(() => this.#run(call))
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(delayMs, signal).then(() => this.awake())
  }

  random(): number {
    return this.#base.random()
  }

  id(): string {
    return this.#base.id()
  }

  /** Resolves at once, or when the member goes on. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.#run(resolve))
  }

  pause(): void {
    if (this.#held === null) this.pausedAt = this.#base.mono()
    this.#held ??= []
    this.awakeSince = Infinity
  }

  /** Nothing of it ever goes on. */
  end(): void {
    this.#isOver = true
    this.#held = null
  }

  resume(): void {
    const held = this.#held ?? []
    this.#held = null
    this.awakeSince = this.#base.mono()
    for (const call of held) call()
  }

  #run(call: () => void): void {
    if (this.#isOver) return
    if (this.#held === null) call()
    else this.#held.push(call)
  }
}
