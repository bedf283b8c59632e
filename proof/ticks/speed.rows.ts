// The bars of speed, measured by the bench of ticks. Rows that one question answers share its one run.
import { questions } from '../../bench/ticks.ts'
import { speedRows } from '../speed-rows.ts'

export const rows = questions.flatMap((question) => speedRows(question))
