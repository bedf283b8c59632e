// Counts what the generator did and turns it into rates of true seconds: what was counted divided by the time
// that really went by, as a timer of one second fires late on a busy machine.
import { FineHistogram } from './fine-histogram.ts'

/** One line of the live view. Rates are per true second; lateness is time − at of the events read in it. */
export interface Second {
  /** Milliseconds from the start of the load to the end of this line. */
  endMs: number
  elapsedMs: number
  /** Requests sent, per second. */
  generated: number
  /** Answers 202, per second. */
  scheduled: number
  /** Events read, per second. */
  consumed: number
  latenessP50Ms: number | null
  latenessP99Ms: number | null
  /** Other answers and lost connections, since the line before. */
  errors: number
}

export interface Totals {
  generated: number
  scheduled: number
  consumed: number
  errors: number
  /** Events whose time is before their `at`; there must be none. */
  early: number
}

/** Mean and worst second of a rate. */
export interface Spread {
  mean: number
  worst: number
}

export interface Quantiles {
  p50: number | null
  p99: number | null
  max: number | null
}

const NOTHING: Totals = { generated: 0, scheduled: 0, consumed: 0, errors: 0, early: 0 }

export class Tally {
  readonly totals: Totals = { ...NOTHING }
  /** Answers by status, and lost connections by reason. */
  readonly answers = new Map<string, number>()
  readonly #lateness = new FineHistogram()
  readonly #secondLateness = new FineHistogram()
  /** In microseconds. */
  readonly #answerTime = new FineHistogram()
  #before: Totals = { ...NOTHING }

  sent(): void {
    this.totals.generated += 1
  }

  answered(status: number, tookMs: number): void {
    if (status === 202) this.totals.scheduled += 1
    else this.totals.errors += 1
    this.#answerTime.record(tookMs * 1000)
    this.#count(String(status))
  }

  lost(reason: string): void {
    this.totals.errors += 1
    this.#count(reason)
  }

  consumed(lateMs: number | null): void {
    this.totals.consumed += 1
    if (lateMs === null || Number.isNaN(lateMs)) return
    if (lateMs < 0) this.totals.early += 1
    this.#lateness.record(lateMs)
    this.#secondLateness.record(lateMs)
  }

  /** The line of what was counted since the one before. */
  second({ endMs, elapsedMs }: Pick<Second, 'endMs' | 'elapsedMs'>): Second {
    const rate = (name: keyof Totals): number =>
      round(((this.totals[name] - this.#before[name]) * 1000) / Math.max(elapsedMs, 1))
    const line: Second = {
      endMs: round(endMs),
      elapsedMs: round(elapsedMs),
      generated: rate('generated'),
      scheduled: rate('scheduled'),
      consumed: rate('consumed'),
      latenessP50Ms: this.#secondLateness.quantile(0.5),
      latenessP99Ms: this.#secondLateness.quantile(0.99),
      errors: this.totals.errors - this.#before.errors,
    }
    this.#before = { ...this.totals }
    this.#secondLateness.clear()
    return line
  }

  get lateness(): Quantiles {
    return quantiles(this.#lateness, 1)
  }

  /** How long answers took, in milliseconds. */
  get answerTime(): Quantiles {
    return quantiles(this.#answerTime, 1000)
  }

  #count(name: string): void {
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1)
  }
}

function quantiles(histogram: FineHistogram, perMs: number): Quantiles {
  const toMs = (value: number | null): number | null => (value === null ? null : value / perMs)
  return {
    p50: toMs(histogram.quantile(0.5)),
    p99: toMs(histogram.quantile(0.99)),
    max: toMs(histogram.quantile(1)),
  }
}

/** Mean by time, and the worst of the whole seconds (a shorter last one says little). */
export function spreadOf(
  seconds: readonly Second[],
  name: 'generated' | 'scheduled' | 'consumed',
): Spread | null {
  const elapsedMs = seconds.reduce((sum, second) => sum + second.elapsedMs, 0)
  if (elapsedMs === 0) return null
  const whole = seconds.filter((second) => second.elapsedMs >= 900)
  const count = seconds.reduce((sum, second) => sum + (second[name] * second.elapsedMs) / 1000, 0)
  const worst = Math.min(...(whole.length > 0 ? whole : seconds).map((second) => second[name]))
  return { mean: round((count * 1000) / elapsedMs), worst }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
