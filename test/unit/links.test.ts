// Every link from one page of the repository to another leads somewhere.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGES, brokenLinks } from './broken-links.ts'

const root = join(import.meta.dirname, '../..')
const pages = globSync(PAGES, { cwd: root })

test('every link between pages leads to a page, and to a heading in it', () => {
  assert.ok(pages.length > 20 && pages.includes('llms.txt'), 'the pages are found')
  const broken = pages.flatMap((page) => brokenLinks(root, page).map((target) => `${page}: ${target}`))
  assert.deepEqual(broken, [])
})
