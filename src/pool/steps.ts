// The steps of a run, told as they happen: taken → started → ended → settled. Keeps the times on the run itself; the
// meter is told of every one, telemetry only while somebody listens to single runs.
import type { Clock } from '../clock.ts'
import type { SettleWord, Telemetry } from '../telemetry.ts'
import type { Flight } from './run.ts'
import type { Outcome } from './settle.ts'
import type { WorkMeter } from './work-meter.ts'

export interface StepsParts {
  pool: string
  clock: Clock
  telemetry: Telemetry
  meter: WorkMeter
}

const TOLD = ['run.taken', 'run.started', 'run.ended', 'run.settled'] as const

export class Steps {
  readonly #parts: StepsParts
  /** Somebody listens to single runs, as of the last call of the store: to ask for each costs as much as to measure. */
  #isHeard = false

  constructor(parts: StepsParts) {
    this.#parts = parts
  }

  /** This moment, by the monotonic clock: read once for all runs of a call of the store. */
  now(): number {
    const at = this.#parts.clock.mono()
    this.#parts.meter.turn(at)
    this.#isHeard = TOLD.some((name) => this.#parts.telemetry.hears(name))
    return at
  }

  /** Taken at the store's time `now`. */
  taken(flight: Flight, now: number): void {
    const { meter, telemetry, pool } = this.#parts
    const { lane, latenessMs, taken } = flight
    meter.taken(lane, latenessMs, taken.seen === 0 ? null : now - taken.putAt)
    if (this.#isHeard) telemetry.emit('run.taken', { pool, lane, run: taken, latenessMs })
  }

  /** It waited behind a run of its key until the store's time `now`: only then it is on its way. */
  follows(flight: Flight, now: number): void {
    flight.takenAt = this.#parts.clock.mono()
    this.taken(flight, now)
  }

  started(flight: Flight): void {
    const { meter, telemetry, pool, clock } = this.#parts
    const { lane, taken } = flight
    flight.startedAt = clock.mono()
    meter.started(lane, flight.startedAt - flight.takenAt)
    if (this.#isHeard) telemetry.emit('run.started', { pool, lane, run: taken })
  }

  /** Null: it is let go. */
  ended(flight: Flight, outcome: Outcome | null): void {
    const { meter, telemetry, pool, clock } = this.#parts
    const { lane, taken } = flight
    flight.endedAt = clock.mono()
    meter.turn(flight.endedAt)
    const runMs = flight.endedAt - flight.startedAt
    meter.ended(lane, runMs, outcome?.kind ?? null, taken.seen)
    if (!this.#isHeard) return
    telemetry.emit('run.ended', { pool, lane, run: taken, runMs, outcome: outcome?.kind ?? null })
  }

  /** The store wrote no mark of it. */
  unmarked({ lane }: Flight, result: Exclude<SettleWord, 'settled'>): void {
    this.#parts.meter.turn(this.#parts.clock.mono())
    this.#parts.meter.unmarked(lane, result)
  }

  /** The store answered at `at`, by the monotonic clock. */
  settled(flight: Flight, result: SettleWord, at: number): void {
    const { meter, telemetry, pool } = this.#parts
    const { lane, taken } = flight
    meter.settled(lane, at - flight.endedAt, result)
    if (this.#isHeard) telemetry.emit('run.settled', { pool, lane, run: taken, result })
  }
}
