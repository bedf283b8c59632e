// The generated pages are what the code would write today.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { referenceFolder, referencePages } from '../../../scripts/reference.ts'

const pages = await referencePages()

for (const [name, text] of Object.entries(pages)) {
  test(`docs/reference/${name} is up to date; npm run reference writes it`, () => {
    assert.equal(readFileSync(join(referenceFolder, name), 'utf8'), text)
  })
}

test('docs/reference holds generated pages only', () => {
  assert.deepEqual(readdirSync(referenceFolder).toSorted(), Object.keys(pages).toSorted())
})

test('every event of the telemetry is in its page', () => {
  const source = readFileSync(join(import.meta.dirname, '../../../src/telemetry.ts'), 'utf8')
  const names = [...source.matchAll(/^ {2}'([^']+)': \{/gm)].map(([, name = '']) => name)
  assert.ok(names.length >= 40)
  for (const name of names) assert.ok(pages['telemetry.md']?.includes(`| \`${name}\` |`), name)
})

/** The names that a file exports by name, types as well. */
function exportedNames(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]+)\}/gm)].map(([, list = '']) => list)
  const forwarded = lists.flatMap((list) => list.match(/\w+(?=,|\s*$)/gm) ?? [])
  const own = [...text.matchAll(/^export (?:async )?(?:function|class|const|interface|type) (\w+)/gm)]
  return [...forwarded, ...own.map(([, name = '']) => name)]
}

test('every export of every entry point is in the API reference', () => {
  const root = join(import.meta.dirname, '../../..')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { 'headrace-source'?: string }>
  }
  const entries = Object.entries(exports).filter(([path]) => !path.endsWith('.json'))
  for (const [path, { 'headrace-source': source = '' }] of entries) {
    const names = exportedNames(join(root, source))
    assert.ok(names.length >= 3, path)
    const page = pages[`api${path.slice(1).replace('/', '-')}.md`] ?? ''
    const headings = new Set<string>(page.match(/(?<=^## \w+ )\w+$/gm))
    const missing = names.filter((name) => !headings.has(name))
    assert.deepEqual(missing, [], path)
  }
})

test('every function and class of the API reference says what it is', () => {
  const texts = Object.entries(pages).filter(([name]) => name.startsWith('api'))
  const silent = texts.flatMap(([name, text]) =>
    [...text.matchAll(/^## ((?:function|class) \w+)\n\n```/gm)].map(([, heading]) => `${name}: ${heading}`),
  )
  assert.deepEqual(silent, [])
})
