// Planted bugs, each caught by the test that it names. The whole takes half a minute, so a quick run does it too.
import { hunt } from '../../test/mutants/hunt.ts'
import { readMutants } from '../../test/mutants/mutant.ts'
import type { ProofRow } from '../row.ts'

const FEWEST = 10

const mutants: ProofRow = {
  name: 'mutants of the source',
  bar: `every mutant caught by a named test (≥ ${FEWEST})`,
  async run({ progress }) {
    const named = readMutants().filter(({ catcher }) => catcher.kind === 'test')
    const hunted = await hunt(named, { types: false, progress })
    const uncaught = hunted.filter(({ verdict }) => verdict !== 'caught')
    const caught = hunted.length - uncaught.length
    return {
      value: `${caught} of ${hunted.length} caught`,
      holds: uncaught.length === 0 && caught >= FEWEST,
      detail: uncaught.length > 0 ? list(uncaught) : `caught: ${hunted.map(({ name }) => name).join(', ')}`,
    }
  },
}

function list(uncaught: Awaited<ReturnType<typeof hunt>>): string {
  return uncaught.map(({ name, verdict, detail }) => `${name} ${verdict} ${detail}`.trim()).join('; ')
}

export const rows = [mutants]
