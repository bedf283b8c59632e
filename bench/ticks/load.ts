// A process: the load generator. Warms server and generator up with the same load, so that both are compiled
// and as many ticks fall due as are posted, and then measures a run of its own.
import { systemClock } from '../../src/clock.ts'
import { type GeneratorOptions, type GeneratorReport, runGenerator } from '../../src/generator/generator.ts'
import { answerParent, tellParent } from '../child.ts'
import type { Processes } from '../process.ts'

export interface LoadInput {
  server: string
  connections: number
  /** Requests a second; null: each connection sends when it was answered. */
  rate: number | null
  windowMs: number
  warmUpMs: number
  durationMs: number
  /** Reads the topic of the ticks, too. */
  follow: boolean
}

export interface LoadAnswer {
  report: GeneratorReport
  /** When the measured run began and ended, in wall time. */
  beganAt: number
  endedAt: number
  /** The share of one core that the generator used; near 1 the figures are its own limit. */
  busy: number
}

const IDS = 1_000_000

/** Runs a load in a process of its own. Throws unless every request was answered with 202 and nothing was early. */
export async function runLoad(
  processes: Processes,
  input: LoadInput,
  progress: (text: string) => void,
): Promise<LoadAnswer> {
  const answer = await processes.run<LoadAnswer>(import.meta.filename, input, progress)
  const { totals, unanswered, answers } = answer.report
  if (totals.errors + unanswered + totals.early > 0 || totals.scheduled === 0) {
    const seen = JSON.stringify(answers)
    throw new Error(
      `the load was no clean run: ${unanswered} unanswered, ${totals.early} early, answers ${seen}`,
    )
  }
  return answer
}

async function load({ warmUpMs, ...input }: LoadInput): Promise<LoadAnswer> {
  const options: GeneratorOptions = { ...input, token: null, ids: IDS, itemsPrefix: 'item-' }
  tellParent(`warms up for ${warmUpMs / 1000} s`)
  await runGenerator({ ...options, durationMs: warmUpMs })
  tellParent(`measures for ${input.durationMs / 1000} s`)
  const cpuBefore = process.cpuUsage()
  const began = systemClock.mono()
  const beganAt = systemClock.now()
  const report = await runGenerator(options)
  const { user, system } = process.cpuUsage(cpuBefore)
  const busy = (user + system) / 1000 / (systemClock.mono() - began)
  return { report, beganAt, endedAt: beganAt + report.durationMs, busy }
}

if (import.meta.main) await answerParent(load)
