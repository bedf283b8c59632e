// The bench of work on pools: its questions, by store.
import type { Question } from './question.ts'
import { lateness } from './work/lateness.ts'
import { runRate } from './work/run-rate.ts'
import { runRateOnFile } from './work/run-rate-on-file.ts'

export const questions: Record<string, readonly Question[]> = {
  postgres: [runRate, lateness],
  sqlite: [runRateOnFile],
}
