// The hunt for mutants can fail: an edit that breaks nothing survives, and what proves nothing, or breaks something else, is
// told apart.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mutants } from '../../mutants/all.ts'

const root = join(import.meta.dirname, '../../..')
const file = 'test/contract/memory.test.ts'
const title = '[T2] a tick moves at its dueAt and not a millisecond before, and its lateness is told'

const harmless = {
  file: 'src/errors.ts',
  find: 'export const ERROR_CODES =',
  replace: 'export const ERROR_CODES  =',
}
const cancels = mutants.find(({ name }) => name === 'cancel-is-not-sent')
const simulated = (promise: string) => ({ seeds: 2, breaking: [promise] })
const named = { file, test: title }
const samples = [
  { ...harmless, name: 'absent-test', caughtBy: { ...named, test: '[T2] no such test' } },
  { ...harmless, name: 'harmless', caughtBy: named },
  { ...harmless, name: 'harmless-in-simulation', caughtBy: simulated('[C1]') },
  { ...cancels, name: 'lost-cancels', caughtBy: simulated('[C1]') },
  { ...harmless, name: 'misfit', find: 'no such text', caughtBy: named },
  { ...cancels, name: 'mistaken', caughtBy: simulated('[K2]') },
].map((sample) => ({ breaks: 'nothing', rule: 'T2', ...sample }))

/** Hunts in a process of its own: inside a test node:test runs no other. */
function verdicts(folder: string): unknown {
  const program = join(folder, 'hunt.mjs')
  writeFileSync(
    program,
    `import { hunt } from ${JSON.stringify(join(root, 'test/mutants/hunt.ts'))}
    const hunted = await hunt(${JSON.stringify(samples)}, { types: false, progress: () => undefined })
    console.log(JSON.stringify(hunted.map(({ name, verdict }) => [name, verdict])))`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, stderr } = spawnSync(process.execPath, [program], { cwd: root, env, encoding: 'utf8' })
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

test('a mutant that breaks nothing survives; one that proves nothing, or breaks something else, is not called caught', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-'))
  try {
    assert.deepEqual(verdicts(folder), [
      ['absent-test', 'test proves nothing'],
      ['harmless', 'survived'],
      ['harmless-in-simulation', 'survived'],
      ['lost-cancels', 'caught'],
      ['misfit', 'does not apply'],
      ['mistaken', 'broke another promise'],
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
