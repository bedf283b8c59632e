// Asks one question of a bench, and turns its findings into rows and judged bars.
import { type Bar, judge } from './measure.ts'
import { Processes } from './process.ts'
import type { Question, Row } from './question.ts'

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
