// The bench of ticks: its questions.
import type { Question } from './question.ts'
import { bulk } from './ticks/bulk.ts'
import { endToEnd } from './ticks/end-to-end.ts'
import { lateness } from './ticks/lateness.ts'
import { postRate } from './ticks/post-rate.ts'
import { takeCost } from './ticks/take-cost.ts'

export const questions: readonly Question[] = [postRate, endToEnd, bulk, lateness, takeCost]
