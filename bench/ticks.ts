// The bench of ticks: its questions, and the run that turns their findings into rows and bars.
import { type Bar, judge } from './measure.ts'
import { Processes } from './process.ts'
import type { Question, Row } from './question.ts'
import { bulk } from './ticks/bulk.ts'
import { endToEnd } from './ticks/end-to-end.ts'
import { lateness } from './ticks/lateness.ts'
import { postRate } from './ticks/post-rate.ts'
import { takeCost } from './ticks/take-cost.ts'

export const questions: readonly Question[] = [postRate, endToEnd, bulk, lateness, takeCost]

export interface AskOptions {
  quick: boolean
  progress: (text: string) => void
}

export interface Asked {
  rows: Row[]
  bars: Bar[]
}

/** Asks one question with processes of its own, none of which is left. */
export async function ask(question: Question, { quick, progress }: AskOptions): Promise<Asked> {
  const processes = new Processes()
  const end = (): void => processes.end()
  process.once('exit', end)
  try {
    const { rows, values } = await question.run({ quick, processes, progress })
    return { rows, bars: question.bars.map((spec) => judge(spec, values[spec.name], quick)) }
  } finally {
    processes.end()
    process.off('exit', end)
  }
}
