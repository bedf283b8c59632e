// Rules and tests hold each other: every rule of docs/spec is cited by a test title, and no title, port or
// rule file cites a rule that is not written down.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { putTableCases } from '../../src/testing/put-table-contract.ts'

const root = join(import.meta.dirname, '../..')

function textsOf(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'))
}

function found(texts: string[], pattern: RegExp): Set<string> {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? '')))
}

/** Ids in the brackets that a title begins with; the titles of the put table are made, not written. */
function citedByTitles(): Set<string> {
  const sources = [...textsOf('test', '.ts'), ...textsOf('src/testing', '.ts')]
  const made = putTableCases.map(({ title }) => `'${title}`)
  const brackets = found([...sources, ...made], /['"`]((?:\[[A-Z]\d+\] ?)+)/g)
  return found([...brackets], /\[([A-Z]\d+)\]/g)
}

const written = found(textsOf('docs/spec', '.md'), /^- \*\*\[([A-Z]\d+)\]\*\*/gm)

test('every rule of docs/spec is cited by a test title', () => {
  assert.ok(written.size > 40, 'the rules are found')
  assert.deepEqual(
    [...written].filter((rule) => !citedByTitles().has(rule)),
    [],
  )
})

test('no test title cites a rule that docs/spec does not have', () => {
  assert.deepEqual(
    [...citedByTitles()].filter((rule) => !written.has(rule)),
    [],
  )
})

test('no comment of the source cites a rule that docs/spec does not have', () => {
  const cited = found(textsOf('src', '.ts'), /(?:\[|[A-Z]\d–)([A-Z]\d+)(?=[\]–])/g)
  assert.ok(cited.size > 10, 'the citations are found')
  assert.deepEqual(
    [...cited].filter((rule) => !written.has(rule)),
    [],
  )
})
