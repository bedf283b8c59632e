// What collectors reported to this member, in memory and bounded. Rule [Q10] of docs/spec/roster.md.
import type { Clock } from '../clock.ts'
import { type Pass, type Report, WINDOW_MS } from './workers.ts'

const MOST_COLLECTORS = 1000
const MOST_REPORTS = 100

export class Reports {
  readonly #clock: Clock
  /** By collector; the one that reported last is the last. */
  readonly #reports = new Map<string, Report[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The time that reports are stamped with. */
  get now(): number {
    return this.#clock.mono()
  }

  add(collector: string, pass: Pass): void {
    const { now } = this
    const kept = this.of(collector).filter(({ at }) => at > now - WINDOW_MS)
    this.#reports.delete(collector)
    this.#reports.set(collector, [...kept, { ...pass, at: now }].slice(-MOST_REPORTS))
    if (this.#reports.size <= MOST_COLLECTORS) return
    const [oldest] = this.#reports.keys()
    if (oldest !== undefined) this.#reports.delete(oldest)
  }

  of(collector: string): readonly Report[] {
    return this.#reports.get(collector) ?? []
  }

  forget(collector: string): void {
    this.#reports.delete(collector)
  }
}
