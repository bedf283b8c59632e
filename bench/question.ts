// What a question of a bench is: what it measures, the rows it answers, and the bars that judge some of them.
import type { Processes } from './process.ts'

export interface Row {
  name: string
  value: number
  unit: string
}

/** A limit that a measured value must keep. */
export interface BarSpec {
  name: string
  unit: string
  limit: { atLeast: number } | { atMost: number }
}

export interface QuestionContext {
  /** Less load, and speed is shown without being judged. */
  quick: boolean
  processes: Processes
  /** Says what is being done now. */
  progress: (text: string) => void
}

export interface Findings {
  rows: Row[]
  /** The value of each bar, by its name. */
  values: Record<string, number>
}

export interface Question {
  /** How `--only` names it: `a`. One measurement may answer two questions. */
  letters: readonly string[]
  title: string
  bars: readonly BarSpec[]
  /** About how long it takes, for the progress bar. */
  seconds(quick: boolean): number
  /** Throws when what it measured was no valid run: an error answer, a lost or early tick. */
  run(context: QuestionContext): Promise<Findings>
}
