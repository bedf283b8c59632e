// The program of README.md runs, and prints what README.md says.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, emptyFolder, outputOf, root } from './run-example.ts'

test('the program of README.md prints what README.md says', async () => {
  const [program, ...others] = blocksOf('README.md', 'ts')
  assert.ok(program !== undefined && others.length === 0, 'README.md has one program')
  using place = emptyFolder()
  // Inside the checkout, where the name of the package leads to its sources.
  const folder = join(root, '.headrace')
  const file = join(folder, `readme-${process.pid}.ts`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, program)
  try {
    assert.deepEqual(blocksOf('README.md', 'text'), [await outputOf(file, { cwd: place.path })])
  } finally {
    rmSync(file)
  }
})
