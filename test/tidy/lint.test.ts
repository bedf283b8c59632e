// oxlint holds what needs a parser. Here: that it is asked to, and that it does.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')

/** Rules that oxlint finds broken in one file, linted with the configuration of the repository. */
function brokenRules(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-lint-'))
  try {
    writeFileSync(join(folder, 'sample.ts'), text)
    const linter = join(root, 'node_modules/oxlint/bin/oxlint')
    const args = [linter, '-c', join(root, '.oxlintrc.json'), '--format=json', 'sample.ts']
    const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    const report: { diagnostics: { code: string }[] } = JSON.parse(stdout)
    return [...new Set(report.diagnostics.map(({ code }) => code))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const functionOf = (lines: number): string =>
  `export function long(): void {\n${'  call()\n'.repeat(lines - 2)}}\ndeclare function call(): void\n`

test('oxlint refuses a function of 71 lines and accepts one of 70', () => {
  assert.deepEqual(brokenRules(functionOf(71)), ['eslint(max-lines-per-function)'])
  assert.deepEqual(brokenRules(functionOf(70)), [])
})

test('oxlint refuses code nested more than three deep', () => {
  const nested = (depth: number): string =>
    `export const f = (x: number): void => {\n${'if (x > 1) {\n'.repeat(depth)}x.toFixed()\n${'}\n'.repeat(depth)}}\n`
  assert.deepEqual(brokenRules(nested(4)), ['eslint(max-depth)'])
  assert.deepEqual(brokenRules(nested(3)), [])
})

test('oxlint refuses any and the non-null assertion', () => {
  const text = 'export const f = (x: string | undefined): unknown => x!\nexport let y: any\n'
  assert.deepEqual(brokenRules(text).toSorted(), [
    'typescript(no-explicit-any)',
    'typescript(no-non-null-assertion)',
  ])
})
