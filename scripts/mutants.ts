// npm run mutants [-- --only TEXT] [--simulation] [--types] [--json]: plants each bug of test/mutants in a copy of the
// source and sees that the test it names fails, or that simulation finds it; with --simulation those alone that show
// what simulation finds. The result goes to stdout, talk to stderr; exits with 1 when a mutant was not caught, with 2
// when asked wrongly.
import { parseArgs } from 'node:util'
import { mutants as all } from '../test/mutants/all.ts'
import { type Hunted, hunt } from '../test/mutants/hunt.ts'
import { isSimulation, ofSimulation } from '../test/mutants/mutant.ts'

const usage = 'npm run mutants -- [--only TEXT] [--simulation] [--types] [--json]'

const flags = readFlags()
const mutants = (flags.simulation ? ofSimulation(all) : all).filter(({ name }) => name.includes(flags.only))
if (mutants.length === 0) refuse(`no mutant has ${flags.only} in its name`)

const hunted = await hunt(mutants, { types: flags.types, progress: say })
const caught = hunted.filter(({ verdict }) => verdict === 'caught').length
process.stdout.write(flags.json ? `${JSON.stringify(document(), null, 2)}\n` : `${table()}\n`)
process.exitCode = caught === hunted.length ? 0 : 1

function readFlags(): { only: string; simulation: boolean; types: boolean; json: boolean } {
  const boolean = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: '' },
        simulation: boolean,
        types: boolean,
        json: boolean,
      },
    }).values
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
  }
}

function document(): unknown {
  return { caught, of: hunted.length, mutants: hunted }
}

function table(): string {
  const width = Math.max(...hunted.map(({ name }) => name.length))
  const verdictWidth = Math.max(...hunted.map(({ verdict }) => verdict.length))
  const line = ({ name, verdict, seconds, ...rest }: Hunted): string =>
    `${name.padEnd(width)}  ${verdict.padEnd(verdictWidth)}  ${seconds.toFixed(1).padStart(5)} s  ${catcherOf(rest)}`
  const refused = hunted.filter(({ verdict, detail }) => verdict !== 'caught' && detail !== '')
  return [
    ...hunted.map(line),
    ...refused.map(({ name, detail }) => `\n${name}: ${detail}`),
    `\n${caught} of ${hunted.length} caught`,
  ].join('\n')
}

/** The test that catches it; or the run that does, and what it breaks. */
function catcherOf({ caughtBy, seeds, detail }: Pick<Hunted, 'caughtBy' | 'seeds' | 'detail'>): string {
  if (!isSimulation(caughtBy)) return caughtBy.test
  return `after ${seeds ?? '-'} seeds: ${detail.slice(0, 100)}`
}

function say(text: string): void {
  const columns = process.stderr.columns
  // In a terminal the progress stays on one line.
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text.slice(0, columns - 1)}` : `${text}\n`)
}

function refuse(message: string): never {
  process.stderr.write(`mutants: ${message}\n`)
  process.exit(2)
}
