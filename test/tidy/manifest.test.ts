import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  absentOptionalPackages,
  incompleteDecisions,
  inexactVersions,
  resolvedPackages,
  undecidedDependencies,
  type Lock,
  type Manifest,
} from './manifest.ts'
import { readTree } from './tree.ts'

const tree = readTree()
const read = (path: string): string => tree.find((file) => file.path === path)?.text ?? ''
const manifest: Manifest = JSON.parse(read('package.json'))
const lock: Lock = JSON.parse(read('package-lock.json'))

test('every dependency has an exact version', () => {
  const sample = { dependencies: { a: '^1.0.0', b: '1.2.3' }, devDependencies: { c: 'latest' } }
  assert.deepEqual(inexactVersions(sample), ['a ^1.0.0', 'c latest'])
  assert.deepEqual(inexactVersions(manifest), [])
})

test('every runtime dependency has a decision whose heading names it', () => {
  const files = [{ path: 'docs/decisions/0001-use-b.md', text: '# 1. B does it, not c-b\n\na' }]
  assert.deepEqual(undecidedDependencies({ dependencies: { a: '1.0.0', b: '1.0.0' } }, files), ['a'])
  assert.deepEqual(undecidedDependencies(manifest, tree), [])
})

test('decisions are numbered without a gap, fit on a screen and have their four parts', () => {
  const text = '## Status\n## Context\n## Decision\n'
  assert.deepEqual(incompleteDecisions([{ path: 'docs/decisions/0002-b.md', text }]), [
    'docs/decisions/0002-b.md: number 0001 expected',
    'docs/decisions/0002-b.md: no part "Consequences"',
  ])
  assert.deepEqual(incompleteDecisions(tree), [])
})

test('package-lock.json holds no address that a package was fetched from', () => {
  assert.deepEqual(resolvedPackages({ packages: { a: { resolved: 'there' }, b: {} } }), ['a'])
  assert.deepEqual(resolvedPackages(lock), [])
})

test('package-lock.json has an entry for every optional package, as npm ci demands', () => {
  const packages = { a: { optionalDependencies: { b: '1.0.0', c: '1.0.0' } }, 'node_modules/b': {} }
  assert.deepEqual(absentOptionalPackages({ packages }), ['c'])
  assert.deepEqual(absentOptionalPackages(lock), [])
})
