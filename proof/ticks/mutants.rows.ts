// Planted bugs, each caught by the test that it names. All take minutes, so a quick run hunts some of every kind.
import { mutants as all } from '../../test/mutants/all.ts'
import { hunt } from '../../test/mutants/hunt.ts'
import { isSimulation } from '../../test/mutants/mutant.ts'
import type { ProofRow } from '../row.ts'

const FEWEST = 10
/** They are in the order of their names. */
const QUICK_EVERY = 8

const mutants: ProofRow = {
  name: 'mutants of the source',
  bar: `every mutant caught by a named test (≥ ${FEWEST})`,
  async run({ quick, progress }) {
    const named = all.filter(({ caughtBy }) => !isSimulation(caughtBy))
    const some = quick ? named.filter((_, nth) => nth % QUICK_EVERY === 0) : named
    const hunted = await hunt(some, { types: false, progress })
    const uncaught = hunted.filter(({ verdict }) => verdict !== 'caught')
    const caught = hunted.length - uncaught.length
    return {
      value: `${caught} of ${hunted.length} caught`,
      holds: uncaught.length === 0 && caught > 0 && named.length >= FEWEST,
      detail: uncaught.length > 0 ? list(uncaught) : `caught: ${hunted.map(({ name }) => name).join(', ')}`,
    }
  },
}

function list(uncaught: Awaited<ReturnType<typeof hunt>>): string {
  return uncaught.map(({ name, verdict, detail }) => `${name} ${verdict} ${detail}`.trim()).join('; ')
}

export const rows = [mutants]
