// .ci/run with commands of the test's own in place of npm: how it counts, and what it does not let pass.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const script = join(import.meta.dirname, '../../../.ci/run')

const GOOD: Record<string, string> = {
  provision: '',
  check: 'echo "3 passed, 0 failed, 0 skipped"',
  test: 'echo "7 passed, 0 failed, 0 skipped"',
  prove: 'echo "2 passed, 0 failed, 0 skipped"',
}

/** Runs a copy of the script with an npm that does what is said of each command. */
function runWith(commands: Record<string, string>): { code: number | null; last: string | undefined } {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-ci-'))
  try {
    for (const name of ['.ci', 'bin', 'proof/ticks']) mkdirSync(join(folder, name), { recursive: true })
    cpSync(script, join(folder, '.ci/run'))
    const cases = Object.entries({ ...GOOD, ...commands }).map(([name, does]) => `${name}) ${does || ':'} ;;`)
    writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\ncase "$3" in\n${cases.join('\n')}\nesac\n`)
    chmodSync(join(folder, 'bin/npm'), 0o755)
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
    const { status, stdout } = spawnSync(join(folder, '.ci/run'), { env, encoding: 'utf8' })
    return { code: status, last: stdout.trimEnd().split('\n').at(-1) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('it passes when every part has its count and nothing failed, and ends with the sum', () => {
  assert.deepEqual(runWith({}), { code: 0, last: '12 passed, 0 failed, 0 skipped' })
})

for (const part of ['check', 'test', 'prove']) {
  test(`it fails when ${part} ends well without a count`, () => {
    assert.equal(runWith({ [part]: ':' }).code, 1)
    assert.equal(runWith({ [part]: 'echo "0 passed, 0 failed, 0 skipped"' }).code, 1)
  })
}

test('it fails when a part fails, is skipped in part, or has failures in its count', () => {
  assert.equal(runWith({ provision: 'exit 1' }).code, 1)
  assert.equal(runWith({ test: 'echo "7 passed, 0 failed, 0 skipped"; exit 1' }).code, 1)
  assert.equal(runWith({ test: 'echo "7 passed, 0 failed, 1 skipped"' }).code, 1)
  assert.equal(runWith({ test: 'echo "7 passed, 1 failed, 0 skipped"' }).code, 1)
})
