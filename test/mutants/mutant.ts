// What a mutant is: one bug, as an edit of the real source, the rule that it breaks, and what must catch it: a test, or
// simulation. The tables beside this file hold them by noun, all.ts brings them together, and hunt.ts runs them.

/** The text of a file in which `find` stands exactly once, and what stands in its place in the mutant. */
export interface Edit {
  file: string
  find: string
  replace: string
}

export type Mutant = {
  name: string
  /** What goes wrong, as a sentence. */
  breaks: string
  /** A rule of docs/spec. */
  rule: string
  caughtBy: NamedTest | Simulation
} & (Edit | { edits: readonly Edit[] })

/** The test of this title, in this file, must fail. */
export interface NamedTest {
  file: string
  test: string
  /** Why simulation cannot catch it; absent: it is not among those that the simulator answers for. */
  unreached?: string
}

/** One of the runs of the seeds from 1 up to `seeds` must break one of the promises `breaking`, as `[P1]` or `exception`. */
export interface Simulation {
  seeds: number
  breaking: readonly string[]
}

/** Stands in the place of a promise where a run, or the process of a member, ended by itself. */
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

export function isSimulation(caughtBy: Mutant['caughtBy']): caughtBy is Simulation {
  return 'seeds' in caughtBy
}

/** Those that show what simulation finds: it catches them, or they say why a test must. */
export function ofSimulation(mutants: readonly Mutant[]): Mutant[] {
  return mutants.filter(({ caughtBy }) => isSimulation(caughtBy) || caughtBy.unreached !== undefined)
}

export function editsOf(mutant: Mutant): readonly Edit[] {
  return 'edits' in mutant ? mutant.edits : [mutant]
}

/** Null: `find` does not stand in the text exactly once. */
export function edited(text: string, { find, replace }: Pick<Edit, 'find' | 'replace'>): string | null {
  const [before, after, ...more] = text.split(find)
  return before === undefined || after === undefined || more.length > 0 ? null : `${before}${replace}${after}`
}

/** The files of the mutant, as they are in it, by their paths; or why it does not apply. */
export function plant(mutant: Mutant, read: (file: string) => string): Map<string, string> | string {
  const files = new Map<string, string>()
  for (const edit of editsOf(mutant)) {
    const text = edited(files.get(edit.file) ?? read(edit.file), edit)
    if (text === null) return `${edit.file} must hold this exactly once: ${edit.find}`
    files.set(edit.file, text)
  }
  return files
}
