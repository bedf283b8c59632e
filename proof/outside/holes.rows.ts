// Each hole that users from outside found has tests that keep it closed: a full run runs them by name, a quick one, which
// comes after all tests, sees that they are there.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProofResult, ProofRow } from '../row.ts'
import { HOLES, type Hole } from './holes.ts'

const root = join(import.meta.dirname, '../..')

export const rows: ProofRow[] = HOLES.map((hole) => ({
  name: `closed: ${hole.name}`,
  bar: 'its tests are there and pass',
  run: async ({ quick }) => (quick ? look(hole) : run(hole)),
}))

/** Whether each title is written, or made of a template, in the files that are named. */
function look({ run: files, source, titles }: Hole): ProofResult {
  const texts = (source === undefined ? files : [source]).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  )
  const missing = titles.filter(
    (title) => !texts.some((text) => patternsOf(text).some((each) => each.test(title))),
  )
  const value = `${titles.length - missing.length} of ${titles.length} there`
  return { value, holds: missing.length === 0, detail: missing.join('; ') }
}

/** Titles that a file writes: a `${…}` in one stands for any text. */
function patternsOf(text: string): RegExp[] {
  const literals = [...text.matchAll(/(['"`])((?:(?!\1|\n).)*)\1/g)].map((match) => match[2] ?? '')
  return literals
    .filter((literal) => literal.length > 20)
    .map((literal) => {
      const parts = literal.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(`^${parts.join('.+')}$`)
    })
}

function run({ run: files, titles, failedBefore }: Hole): ProofResult {
  const names = titles.map((title) => `--test-name-pattern=${title.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}`)
  const { NODE_TEST_CONTEXT: _inTest, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...names, ...files], {
    cwd: root,
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 28,
  })
  const passed = titles.filter((title) => isPassed(stdout, title))
  return {
    value: `${passed.length} of ${titles.length} pass`,
    holds: passed.length === titles.length,
    detail: `${titles.join('; ')} (${files.join(', ')}); seen to fail before: ${failedBefore ? 'yes' : 'no'}`,
  }
}

/** TAP escapes `#` and backslashes. */
function isPassed(stdout: string, title: string): boolean {
  const lines = stdout.split('\n').filter((line) => line.includes(title.replaceAll('#', '\\#')))
  const results = lines.filter((line) => /^\s*(not )?ok /.test(line))
  return results.length > 0 && results.every((line) => /^\s*ok /.test(line) && !line.includes('# SKIP'))
}
