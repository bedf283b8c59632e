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
  /** One of the runs of the seeds from 1 up to `within` must break a promise. */
  | { kind: 'simulation'; within: number }

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
        : { kind: 'simulation', within: Number(within) },
  }
}
