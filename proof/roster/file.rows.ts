// Three servers on one SQLite file: what becomes of the partitions of one that is killed.
import { describeFindings } from '../../test/fault/check-ticks.ts'
import { killOnFile } from '../../test/fault/kill-on-file.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofRow } from '../row.ts'
import { found, quantile, spread } from './verdict.ts'

const TAKEN_OVER_MS = 5000

const kills = once(async ({ quick, progress }: ProofContext) => {
  const count = quick ? 2 : 10
  return { ...(await killOnFile(count, progress)), count }
})

export const rows: ProofRow[] = [
  {
    name: 'three servers on one SQLite file, SIGKILLs under load: ticks lost, early or twice, gaps',
    bar: '0',
    async run(context) {
      const verdict = await kills(context)
      const { seed, count, acknowledged, unanswered, findings } = verdict
      return {
        value: `${found(verdict)} in ${count} kills`,
        holds: found(verdict) === 0 && acknowledged > 0,
        detail:
          `seed ${seed}: ${acknowledged} acknowledged, ${unanswered} unanswered ${describeFindings(findings)}`.trimEnd(),
      }
    },
  },
  {
    name: 'on one SQLite file: from the kill to the first event that the next owner moved, p99 over partitions',
    bar: '≤ 5,000 ms',
    speed: true,
    async run(context) {
      const { takenOverMs, seed } = await kills(context)
      const p99 = quantile(takenOverMs, 0.99)
      return {
        value: `${p99} ms`,
        holds: takenOverMs.length > 0 && p99 <= TAKEN_OVER_MS,
        detail: `seed ${seed}: ${takenOverMs.length} partitions, ${spread(takenOverMs)}`,
      }
    },
  },
]
