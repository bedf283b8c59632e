// The same seed is the same run, in whatever process.
import { HASHED_EVERY, type Tally } from '../../src/lab/simulation/report.ts'
import type { ProofRow } from '../row.ts'
import { runs, seedsOf } from './runs.rows.ts'
import { simulate } from './simulate.ts'

export const rows: ProofRow[] = [
  {
    name: 'the same seed in three processes: hashes of traces that differ',
    bar: `0, for one in ${HASHED_EVERY} of all seeds`,
    async run(context) {
      const count = seedsOf(context) / HASHED_EVERY
      const { first: from, hashes } = (await runs(context)).tally
      const firstHashed = Math.ceil(from / HASHED_EVERY) * HASHED_EVERY
      const args = ['--runs', count, '--from', firstHashed, '--step', HASHED_EVERY]
      const first = await simulate<Tally>(args, context.progress)
      const again = await simulate<Tally>(args, context.progress)
      const seeds = Object.keys(first.hashes)
      const differ = seeds.filter(
        (seed) => first.hashes[seed] !== again.hashes[seed] || first.hashes[seed] !== hashes[seed],
      )
      return {
        value: `${differ.length} of ${seeds.length}`,
        holds: differ.length === 0 && seeds.length === count,
        detail:
          differ.length > 0
            ? `seeds ${differ.slice(0, 20).join(' ')}`
            : `seeds ${seeds[0]} to ${seeds.at(-1)}`,
      }
    },
  },
]
