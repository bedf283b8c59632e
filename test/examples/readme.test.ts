// The programs of README.md run, and print what README.md says.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, emptyFolder, outputOf, outputUntil, root } from './run-example.ts'

const programs = blocksOf('README.md', 'ts')
const printed = blocksOf('README.md', 'text')

test('each program of README.md is followed by what it prints', () => {
  assert.ok(programs.length > 0)
  assert.equal(printed.length, programs.length)
})

for (const [nth, program] of programs.entries()) {
  test(`the program ${nth + 1} of README.md prints what README.md says`, async () => {
    using place = emptyFolder()
    // Inside the checkout, where the name of the package leads to its sources.
    const folder = join(root, '.headrace')
    const file = join(folder, `readme-${process.pid}-${nth}.ts`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, program)
    try {
      const expected = printed[nth] ?? ''
      const args = ['--conditions=headrace-source', file]
      // A worker goes on until it is stopped; the others end by themselves.
      const output = program.includes('signals: true')
        ? outputUntil(expected, process.execPath, args, { cwd: place.path })
        : outputOf(file, { cwd: place.path })
      assert.equal(await output, expected)
    } finally {
      rmSync(file)
    }
  })
}
