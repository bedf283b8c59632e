// Planted bugs that simulation finds, and those that it cannot reach and a named test catches.
import { mutants as everyMutant } from '../../test/mutants/all.ts'
import { type Hunted, hunt } from '../../test/mutants/hunt.ts'
import { type Mutant, isSimulation, ofSimulation } from '../../test/mutants/mutant.ts'
import type { ProofRow } from '../row.ts'

const FEWEST = 20
const QUICK_SHARE = 0.1

export const rows: ProofRow[] = [
  {
    name: 'mutants of the source, by simulation or contract',
    bar: `every mutant caught, and not by types (≥ ${FEWEST})`,
    async run({ quick, progress }) {
      const all = ofSimulation(everyMutant)
      const mutants = quick ? soonest(all) : all
      const hunted = await hunt(mutants, { types: !quick, progress })
      const uncaught = hunted.filter(({ verdict }) => verdict !== 'caught')
      return {
        value: `${hunted.length - uncaught.length} of ${hunted.length} caught`,
        holds: uncaught.length === 0 && all.length >= FEWEST && hunted.length > 0,
        detail: (uncaught.length > 0 ? uncaught : hunted).map(describe).join('; '),
      }
    },
  },
]

/** Those that are caught within the fewest seeds. */
function soonest(mutants: readonly Mutant[]): Mutant[] {
  const seeds = ({ caughtBy }: Mutant): number => (isSimulation(caughtBy) ? caughtBy.seeds : Infinity)
  return mutants.toSorted((a, b) => seeds(a) - seeds(b)).slice(0, Math.ceil(mutants.length * QUICK_SHARE))
}

function describe({ name, verdict, caughtBy, seeds, detail }: Hunted): string {
  if (verdict !== 'caught') return `${name} ${verdict} ${detail}`.trim()
  return isSimulation(caughtBy) ? `${name}: after ${seeds} seeds, ${detail}` : `${name}: by ${caughtBy.test}`
}
