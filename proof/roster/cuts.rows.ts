// What a cut connection leaves in PostgreSQL when a write was done and its answer is lost.
import { cutAnswers, sum } from '../../test/fault/cut-answers.ts'
import type { ProofRow } from '../row.ts'

export const rows: ProofRow[] = [
  {
    name: 'connections cut between COMMIT, or a statement that commits itself, and its answer: tallies and events wrong',
    bar: '0',
    async run({ quick, progress }) {
      const count = quick ? 10 : 100
      const { seed, cuts, wrong } = await cutAnswers(count, progress)
      const kinds = Object.entries(cuts).map(([kind, times]) => `${times} × ${kind}`)
      return {
        value: `${wrong.length} wrong in ${sum(cuts)} cuts`,
        holds: wrong.length === 0 && sum(cuts) === count,
        detail: `seed ${seed}: ${kinds.join(', ')} ${wrong.slice(0, 5).join('; ')}`.trimEnd(),
      }
    },
  },
]
