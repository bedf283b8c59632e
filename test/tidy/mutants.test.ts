// The mutants of test/mutants stay true to the source: each applies, and the rule and the test it names exist.
// That the test catches it is what `npm run mutants` shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutants } from '../mutants/all.ts'
import {
  EXCEPTION,
  type Mutant,
  edited,
  editsOf,
  isSimulation,
  ofSimulation,
  plant,
  shownIn,
} from '../mutants/mutant.ts'
import { importsOf } from './imports.ts'
import type { File } from './rule.ts'
import { readTree } from './tree.ts'

const tree = new Map(readTree().map((file) => [file.path, file]))

/** Titles that a file writes or makes: a `${…}` in one stands for any text. */
function titlesOf({ text }: File): RegExp[] {
  const literals = [...text.matchAll(/(['"`])(\[(?:(?!\1).)*)\1/g)].map((match) => match[2] ?? '')
  return literals.map((literal) => {
    const parts = literal.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.+')}$`)
  })
}

/** The file and everything that it imports, directly or not. */
function reachable(path: string, seen = new Set<string>()): File[] {
  const file = tree.get(path)
  if (file === undefined || seen.has(path)) return []
  seen.add(path)
  return [file, ...importsOf(file).flatMap((next) => reachable(next, seen))]
}

const hasTitle = (files: File[], title: string): boolean =>
  files.some((file) => titlesOf(file).some((pattern) => pattern.test(title)))

const sample: Mutant = {
  name: 'a',
  file: 'src/a.ts',
  find: 'one',
  replace: '$& two',
  breaks: 'it',
  rule: 'P1',
  caughtBy: { file: 'test/a.test.ts', test: '[P1] a title' },
}

test('an edit is made where its text stands exactly once, and nowhere else', () => {
  assert.equal(edited('no one is', { find: 'one', replace: '$& two' }), 'no $& two is')
  for (const text of ['none of them, but one', 'two']) assert.equal(edited(text, sample), null)
  assert.deepEqual(
    plant(sample, () => 'one'),
    new Map([['src/a.ts', '$& two']]),
  )
  assert.equal(
    plant(sample, () => 'two'),
    'src/a.ts must hold this exactly once: one',
  )
  const edits = [sample, { ...sample, find: 'two', replace: 'three' }]
  assert.deepEqual(
    plant({ ...sample, edits }, () => 'one'),
    new Map([['src/a.ts', '$& three']]),
  )
})

test('a mutant is caught by simulation within so many seeds, or says why it cannot be', () => {
  const simulated: Mutant = { ...sample, caughtBy: { seeds: 50, breaking: ['[P1]', EXCEPTION] } }
  const unreached: Mutant = { ...sample, caughtBy: { file: 'a', test: 'b', unreached: 'it is SQL' } }
  assert.deepEqual(ofSimulation([simulated, sample, unreached]), [simulated, unreached])
  for (const { name, caughtBy } of mutants.filter(({ caughtBy }) => isSimulation(caughtBy))) {
    const { seeds, breaking } = caughtBy as Extract<Mutant['caughtBy'], { seeds: number }>
    assert.ok(seeds > 0 && breaking.length > 0, `${name}: breaks nothing`)
    for (const promise of breaking) assert.match(promise, /^(\[[A-Z]\d+\]|exception)$/, name)
  }
})

test('a run shows a mutant only if it breaks one of the promises that the mutant names', () => {
  const violations = ['[P1] a put is lost', '[X24] a signal', 'exception: the run ended with Error']
  assert.equal(shownIn(violations, ['[X24]', '[K2]']), '[X24] a signal')
  assert.equal(shownIn(violations, ['[X2]', '[K2]']), null)
  assert.equal(shownIn(violations.slice(0, 2), ['exception']), null)
  assert.equal(shownIn(violations, ['exception']), 'exception: the run ended with Error')
})

test('there are at least 80 mutants, each has a name of its own, and every one applies to the source as it is', () => {
  assert.ok(mutants.length >= 80, `${mutants.length} mutants`)
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length)
  const applied = mutants.map((mutant) => [mutant.name, plant(mutant, (file) => tree.get(file)?.text ?? '')])
  assert.deepEqual(
    applied.filter(([, planted]) => typeof planted === 'string'),
    [],
  )
})

test('every table of mutants is one of all', () => {
  const others = ['all', 'hunt', 'mutant', 'seek'].map((name) => `test/mutants/${name}.ts`)
  const all = tree.get('test/mutants/all.ts') as File
  const tables = [...tree.keys()].filter((path) => path.startsWith('test/mutants/') && !others.includes(path))
  assert.deepEqual(
    tables.filter((path) => !importsOf(all).includes(path)),
    [],
  )
})

test('every mutant edits src, and names rules of docs/spec', () => {
  const spec = [...tree.values()].filter(({ path }) => path.startsWith('docs/spec/'))
  const isRule = (name: string): boolean => spec.some(({ text }) => text.includes(`- **${name}**`))
  for (const mutant of mutants) {
    const { name, rule, caughtBy } = mutant
    for (const { file, find, replace } of editsOf(mutant)) {
      assert.match(file, /^src\//, name)
      assert.notEqual(find, replace, name)
    }
    const breaking = isSimulation(caughtBy) ? caughtBy.breaking : []
    for (const each of [`[${rule}]`, ...breaking.filter((promise) => promise !== EXCEPTION)])
      assert.ok(isRule(each), `${name}: no rule ${each}`)
  }
})

test('every mutant names a test that exists', () => {
  const sample = [{ path: 'a.test.ts', text: "test('[P1] a (b)')\ntest(`[P2] ${x} is ${y ? '1' : '2'}`)" }]
  const found = ['[P1] a (b)', '[P1] a', '[P2] it is 1', '[P2] is 1'].map((title) => hasTitle(sample, title))
  assert.deepEqual(found, [true, false, true, false])
  const unknown = mutants.flatMap(({ name, caughtBy }) =>
    isSimulation(caughtBy) || hasTitle(reachable(caughtBy.file), caughtBy.test)
      ? []
      : [`${name}: ${caughtBy.test}`],
  )
  assert.deepEqual(unknown, [])
})
