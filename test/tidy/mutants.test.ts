// The mutants of test/mutants stay true to the source: each applies, and the rule and the test it names exist.
// That the test catches it is what `npm run mutants` shows.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXCEPTION, parseMutant, readMutants, shownIn } from '../mutants/mutant.ts'
import { importsOf } from './imports.ts'
import type { File } from './rule.ts'
import { readTree } from './tree.ts'

const root = join(import.meta.dirname, '../..')
const tree = new Map(readTree().map((file) => [file.path, file]))
const mutants = readMutants()

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

test('a mutant whose header lacks a line is refused', () => {
  const header = 'Breaks: it\nRule: P1\nFile: test/a.test.ts\nTest: [P1] a title\n'
  assert.deepEqual(parseMutant('test/mutants/a-b.patch', `${header}\ndiff --git a b\nTest: no\n`), {
    name: 'a-b',
    patch: 'test/mutants/a-b.patch',
    breaks: 'it',
    rule: 'P1',
    catcher: { kind: 'test', file: 'test/a.test.ts', title: '[P1] a title', unreached: null },
  })
  assert.throws(() => parseMutant('a.patch', 'Breaks: it\nRule: P1\ndiff --git a b\n'), /no line "File: …"/)
})

test('a mutant is caught by simulation within so many seeds, or says why it cannot be', () => {
  const parse = (line: string) =>
    parseMutant('a.patch', `Breaks: it\nRule: P1\n${line}\n\ndiff --git a b\n`).catcher
  assert.deepEqual(parse('Simulation: within 50 seeds\nSeen: [P1], exception'), {
    kind: 'simulation',
    within: 50,
    seen: ['[P1]', 'exception'],
  })
  const named = 'Simulation: cannot, it is SQL\nFile: test/a.test.ts\nTest: [P1] a title'
  const expected = { kind: 'test', file: 'test/a.test.ts', title: '[P1] a title', unreached: 'it is SQL' }
  assert.deepEqual(parse(named), expected)
  assert.throws(() => parse('Simulation: perhaps'), /neither/)
  assert.throws(() => parse('Simulation: within 50 seeds'), /no line "Seen: …"/)
  assert.throws(() => parse('Simulation: within 50 seeds\nSeen: P1'), /neither/)
})

test('a run shows a mutant only if it breaks one of the promises that the mutant names', () => {
  const violations = ['[P1] a put is lost', '[X24] a signal', 'exception: the run ended with Error']
  assert.equal(shownIn(violations, ['[X24]', '[K2]']), '[X24] a signal')
  assert.equal(shownIn(violations, ['[X2]', '[K2]']), null)
  assert.equal(shownIn(violations.slice(0, 2), ['exception']), null)
  assert.equal(shownIn(violations, ['exception']), 'exception: the run ended with Error')
})

test('there are at least ten mutants, and every one applies to the source as it is', () => {
  assert.ok(mutants.length >= 10)
  const refusals = mutants.map(({ patch }) =>
    spawnSync('git', ['apply', '--check', patch], { cwd: root, encoding: 'utf8' }).stderr.trim(),
  )
  assert.deepEqual(
    refusals.filter((refusal) => refusal !== ''),
    [],
  )
})

test('every mutant patches src, and names rules of docs/spec', () => {
  const spec = [...tree.values()].filter(({ path }) => path.startsWith('docs/spec/'))
  const isRule = (name: string): boolean => spec.some(({ text }) => text.includes(`- **${name}**`))
  for (const { patch, rule, catcher } of mutants) {
    const touched = [...(tree.get(patch)?.text ?? '').matchAll(/^\+\+\+ (.*)$/gm)].map(
      (match) => match[1] ?? '',
    )
    assert.ok(touched.length > 0, `${patch}: no file`)
    for (const path of touched) assert.match(path, /^b\/src\//, patch)
    const seen = catcher.kind === 'simulation' ? catcher.seen : []
    for (const name of [`[${rule}]`, ...seen.filter((each) => each !== EXCEPTION)])
      assert.ok(isRule(name), `${patch}: no rule ${name}`)
  }
})

test('every mutant names a test that exists', () => {
  const sample = [{ path: 'a.test.ts', text: "test('[P1] a (b)')\ntest(`[P2] ${x} is ${y ? '1' : '2'}`)" }]
  const found = ['[P1] a (b)', '[P1] a', '[P2] it is 1', '[P2] is 1'].map((title) => hasTitle(sample, title))
  assert.deepEqual(found, [true, false, true, false])
  const unknown = mutants.flatMap(({ name, catcher }) =>
    catcher.kind === 'simulation' || hasTitle(reachable(catcher.file), catcher.title)
      ? []
      : [`${name}: ${catcher.title}`],
  )
  assert.deepEqual(unknown, [])
})
