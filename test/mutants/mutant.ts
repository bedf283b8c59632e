// What a mutant is: a patch that plants one bug in the real source, under a header that names the rule it breaks and
// what must catch it: a test, or simulation. Leaves running them to hunt.ts.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Mutant {
  name: string
  /** The patch, from the root of the repository. */
  patch: string
  /** What goes wrong, as a sentence. */
  breaks: string
  /** A rule of docs/spec. */
  rule: string
  catcher: Catcher
}

export type Catcher =
  /** The test of this title, in this file, must fail. */
  | {
      kind: 'test'
      file: string
      title: string
      /** Why simulation was not asked to catch it; null: it is not among those that the simulator answers for. */
      unreached: string | null
    }
  /** One of the runs of the seeds from 1 up to `within` must break one of the promises `seen`, as `[P1]` or `exception`. */
  | { kind: 'simulation'; within: number; seen: readonly string[] }

/** Said in the place of a rule where a run, or the process of a member, ended by itself. */
export const EXCEPTION = 'exception'

/** A run, and all that it broke. */
export interface Broken {
  seed: number
  violations: readonly string[]
}

/** What a search of seeds came to: the first run that broke what was sought, and the first before it that broke only others. */
export interface Sought {
  found: Broken | null
  other: Broken | null
}

/** The first violation of one of the promises that a mutant is to break; null: there is none, whatever else was broken. */
export function shownIn(violations: readonly string[], seen: readonly string[]): string | null {
  return violations.find((violation) => seen.some((promise) => violation.startsWith(promise))) ?? null
}

const root = join(import.meta.dirname, '../..')

export function readMutants(): Mutant[] {
  return globSync('test/mutants/*.patch', { cwd: root })
    .toSorted()
    .map((patch) => parseMutant(patch, readFileSync(join(root, patch), 'utf8')))
}

/** Those that show what simulation finds: it catches them, or says why a test must. */
export function ofSimulation(mutants: readonly Mutant[]): Mutant[] {
  return mutants.filter(({ catcher }) => catcher.kind === 'simulation' || catcher.unreached !== null)
}

/** git ignores what stands before the diff; there our header is, one `Field: text` a line. */
export function parseMutant(patch: string, text: string): Mutant {
  const [header = ''] = text.split(/^diff --git /m)
  const optional = (label: string): string | null =>
    new RegExp(`^${label}: (\\S.*)$`, 'm').exec(header)?.[1] ?? null
  const field = (label: string): string => {
    const value = optional(label)
    if (value === null) throw new Error(`${patch} has no line "${label}: …" before its diff`)
    return value
  }
  const simulation = optional('Simulation')
  const within = /^within (\d+) seeds$/.exec(simulation ?? '')?.[1]
  const unreached = /^cannot, (.+)$/.exec(simulation ?? '')?.[1] ?? null
  if (simulation !== null && within === undefined && unreached === null)
    throw new Error(`${patch} says neither "Simulation: within N seeds" nor "Simulation: cannot, …"`)
  return {
    name: basename(patch, '.patch'),
    patch,
    breaks: field('Breaks'),
    rule: field('Rule'),
    catcher:
      within === undefined
        ? { kind: 'test', file: field('File'), title: field('Test'), unreached }
        : { kind: 'simulation', within: Number(within), seen: parseSeen(patch, field('Seen')) },
  }
}

function parseSeen(patch: string, line: string): string[] {
  const seen = line.split(', ')
  const wrong = seen.find((each) => each !== EXCEPTION && !/^\[[A-Z]\d+\]$/.test(each))
  if (wrong !== undefined)
    throw new Error(`${patch} says "Seen: ${wrong}", which is neither [RULE] nor ${EXCEPTION}`)
  return seen
}
