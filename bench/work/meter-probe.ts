// A process: what it costs to measure a run step by step, from its take to its settle, in nanoseconds. The steps are told
// as a worker tells them, in batches of a take; the median of several rounds counts.
import { systemClock } from '../../src/clock.ts'
import { Meter } from '../../src/meter/meter.ts'
import type { Flight } from '../../src/pool/run.ts'
import type { Outcome } from '../../src/pool/settle.ts'
import { Steps } from '../../src/pool/steps.ts'
import type { WorkerSight } from '../../src/pool/work-meter.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { answerParent } from '../child.ts'
import { median } from '../measure.ts'

export interface MeterProbeInput {
  runs: number
}

const ROUNDS = 5
const BATCH = 1000
const DONE: Outcome = { kind: 'done' }

await answerParent(async ({ runs }: MeterProbeInput): Promise<number> => {
  const telemetry = createTelemetry(systemClock.id())
  const meter = new Meter(telemetry, systemClock).work('bench', {} as WorkerSight)
  const steps = new Steps({ pool: 'bench', clock: systemClock, telemetry, meter })
  const flights = Array.from({ length: BATCH }, (_, nth) => flightOf(nth))
  const rounds = Array.from({ length: ROUNDS }, () => measure(steps, flights, runs))
  return median(rounds)
})

function measure(steps: Steps, flights: readonly Flight[], runs: number): number {
  const began = systemClock.mono()
  for (let done = 0; done < runs; done += flights.length) {
    const takenAt = steps.now()
    for (const flight of flights) {
      flight.takenAt = takenAt
      steps.taken(flight, 5)
    }
    for (const flight of flights) {
      steps.started(flight)
      steps.ended(flight, DONE)
    }
    const settledAt = steps.now()
    for (const flight of flights) steps.settled(flight, 'settled', settledAt)
  }
  return ((systemClock.mono() - began) * 1e6) / runs
}

/** What the steps look at of a run. */
function flightOf(nth: number): Flight {
  const taken = { seen: 1, putAt: nth % 5 }
  return { lane: 'normal', latenessMs: nth % 97, taken, takenAt: 0, startedAt: 0, endedAt: 0 } as Flight
}
