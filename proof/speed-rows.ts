// Rows of proof out of a question of a bench: one for each of its bars, all judged on one run of it.
import { type Asked, ask } from '../bench/ask.ts'
import { formatLimit, formatValue } from '../bench/measure.ts'
import type { BarSpec, Question } from '../bench/question.ts'
import { once } from './once.ts'
import type { ProofResult, ProofRow } from './row.ts'

export function speedRows(question: Question): ProofRow[] {
  const measure = once((context) => ask(question, context))
  return question.bars.map((spec) => ({
    name: `speed ${spec.name}`,
    bar: formatLimit(spec),
    speed: true,
    run: async (context) => resultOf(await measure(context), spec),
  }))
}

/** The detail holds everything that the question measured. */
function resultOf(asked: Asked, { name, unit }: BarSpec): ProofResult {
  const bar = asked.bars.find((found) => found.name === name)
  if (bar === undefined) throw new Error(`the bench has no bar ${name}`)
  const detail = asked.rows.map((row) => `${row.name}: ${formatValue(row.value, row.unit)}`).join('; ')
  return { value: formatValue(bar.value, unit), holds: bar.holds === true, detail }
}
