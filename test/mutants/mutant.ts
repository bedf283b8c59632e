// What a mutant is: a patch that plants one bug in the real source, under a header that names the rule it breaks
// and the test that must catch it. Leaves running them to hunt.ts.
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
  /** The test file and the title of the test that must fail. */
  file: string
  title: string
}

const root = join(import.meta.dirname, '../..')

export function readMutants(): Mutant[] {
  return globSync('test/mutants/*.patch', { cwd: root })
    .toSorted()
    .map((patch) => parseMutant(patch, readFileSync(join(root, patch), 'utf8')))
}

/** git ignores what stands before the diff; there our header is, one `Field: text` a line. */
export function parseMutant(patch: string, text: string): Mutant {
  const [header = ''] = text.split(/^diff --git /m)
  const field = (label: string): string => {
    const value = new RegExp(`^${label}: (\\S.*)$`, 'm').exec(header)?.[1]
    if (value === undefined) throw new Error(`${patch} has no line "${label}: …" before its diff`)
    return value
  }
  return {
    name: basename(patch, '.patch'),
    patch,
    breaks: field('Breaks'),
    rule: field('Rule'),
    file: field('File'),
    title: field('Test'),
  }
}
