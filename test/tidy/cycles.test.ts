import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCycle } from './imports.ts'
import { isTypeScript } from './rule.ts'
import { readTree } from './tree.ts'

test('a cycle over three files is found, type imports included', () => {
  const files = [
    { path: 'src/a.ts', text: "import { b } from './pool/b.ts'" },
    { path: 'src/pool/b.ts', text: "import type { C } from './c.ts'" },
    { path: 'src/pool/c.ts', text: "export { a } from '../a.ts'" },
  ]
  assert.deepEqual(findCycle(files), ['src/a.ts', 'src/pool/b.ts', 'src/pool/c.ts', 'src/a.ts'])
})

test('two ways to one file are not a cycle', () => {
  const files = [
    { path: 'src/a.ts', text: "import './b.ts'\nimport './c.ts'" },
    { path: 'src/b.ts', text: "import './c.ts'" },
    { path: 'src/c.ts', text: '' },
  ]
  assert.equal(findCycle(files), undefined)
})

test('no file of the tree imports itself, however far around', () => {
  const cycle = findCycle(readTree().filter(({ path }) => isTypeScript(path)))
  assert.equal(cycle?.join(' → '), undefined)
})
