// The bench of pools on PostgreSQL: its questions.
import { plans } from './pool/plans.ts'
import { putRate } from './pool/put-rate.ts'
import type { Question } from './question.ts'

export const questions: readonly Question[] = [putRate, plans]
