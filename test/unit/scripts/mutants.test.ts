// The hunt for mutants can fail: a patch that breaks nothing survives, and what proves nothing, or breaks something else, is
// told apart.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../../..')
const file = 'test/contract/memory.test.ts'
const title = '[T2] a tick moves at its dueAt and not a millisecond before, and its lateness is told'

/** A patch that adds a file of one line. */
const adding = (line: string): string =>
  `diff --git a/src/new.ts b/src/new.ts\nnew file mode 100644\n--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1 @@\n+${line}\n`

const harmless = adding('export const harmless = 1')
const cancels = readFileSync(join(root, 'test/mutants/cancel-is-not-sent.patch'), 'utf8')
const simulated = (seen: string) => ({ kind: 'simulation', within: 2, seen: [seen] })
const named = { kind: 'test', file, title, unreached: null }
const samples = [
  { name: 'absent-test', text: harmless, catcher: { ...named, title: '[T2] no such test' } },
  { name: 'harmless', text: harmless, catcher: named },
  { name: 'harmless-in-simulation', text: harmless, catcher: simulated('[C1]') },
  { name: 'lost-cancels', text: cancels, catcher: simulated('[C1]') },
  { name: 'misfit', text: adding('x').replace('new file', 'deleted file'), catcher: named },
  { name: 'mistaken', text: cancels, catcher: simulated('[K2]') },
]

/** Hunts in a process of its own: inside a test node:test runs no other. */
function verdicts(folder: string): unknown {
  const mutants = samples.map(({ name, text, catcher }) => {
    const patch = join(folder, `${name}.patch`)
    writeFileSync(patch, text)
    return { name, patch, breaks: 'nothing', rule: 'T2', catcher }
  })
  const program = join(folder, 'hunt.mjs')
  writeFileSync(
    program,
    `import { hunt } from ${JSON.stringify(join(root, 'test/mutants/hunt.ts'))}
    const hunted = await hunt(${JSON.stringify(mutants)}, { types: false, progress: () => undefined })
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
