// Asks one question of a bench, and turns its findings into rows and judged bars.
import { systemClock } from '../src/clock.ts'
import { type Bar, judge } from './measure.ts'
import { Processes } from './process.ts'
import type { Findings, Question, Row } from './question.ts'
import { readCoreTime, stolenBetween } from './steal.ts'

export interface AskOptions {
  quick: boolean
  progress: (text: string) => void
}

export interface Asked {
  rows: Row[]
  bars: Bar[]
}

interface Try {
  findings: Findings
  /** Percent of the cores that the host took meanwhile. */
  stolen: number | undefined
}

/** A try that lost more than this to the host is made again, whatever it measured. */
const STOLEN_AT_MOST = 5
const TRIES = 4
const BETWEEN_TRIES_MS = 60_000

/** Of several tries the one that the host disturbed least counts, be it the better one or not. */
export async function ask(question: Question, options: AskOptions): Promise<Asked> {
  const tries = [await tryOnce(question, options)]
  while (!options.quick && tries.length < TRIES && (tries.at(-1)?.stolen ?? 0) > STOLEN_AT_MOST) {
    options.progress(
      `the host took ${tries.at(-1)?.stolen?.toFixed(1)} % of the cores: tries again in a minute`,
    )
    await systemClock.sleep(BETWEEN_TRIES_MS)
    tries.push(await tryOnce(question, options))
  }
  const { findings, stolen } = leastDisturbed(tries)
  const bars = question.bars.map((spec) => judge(spec, findings.values[spec.name], options.quick))
  return { rows: [...findings.rows, ...disturbance(question, stolen, tries.length)], bars }
}

export function leastDisturbed<T extends Pick<Try, 'stolen'>>(tries: readonly T[]): T {
  return tries.reduce((least, next) => ((next.stolen ?? 0) < (least.stolen ?? 0) ? next : least))
}

function disturbance({ letters }: Question, stolen: number | undefined, tries: number): Row[] {
  if (stolen === undefined) return []
  const name = (what: string): string => `${letters.join(', ')}: ${what}`
  return [
    { name: name('cores taken by the host'), value: stolen, unit: '%' },
    { name: name('tries, the least disturbed counts'), value: tries, unit: '' },
  ]
}

/** Asks with processes of its own, none of which is left. */
async function tryOnce(question: Question, { quick, progress }: AskOptions): Promise<Try> {
  const processes = new Processes()
  const end = (): void => processes.end()
  process.once('exit', end)
  try {
    const before = readCoreTime()
    const findings = await question.run({ quick, processes, progress })
    return { findings, stolen: stolenBetween(before, readCoreTime()) }
  } finally {
    processes.end()
    process.off('exit', end)
  }
}
