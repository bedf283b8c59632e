// Every link from one page of the repository to another leads somewhere.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/*/README.md'], { cwd: root })

/** `npm run prove -- NN --report` writes these; a fresh branch may not have them yet. */
const written = /^docs\/operating\/proof\//

/** As GitHub makes them: lower case, spaces to dashes, other signs left out. */
function anchorsOf(page: string): string[] {
  const headings = [...readFileSync(join(root, page), 'utf8').matchAll(/^#+ (.+)$/gm)]
  return headings.map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

function brokenLinks(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[^]*?^```$/gm, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (written.test(file)) return false
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(file).includes(anchor)
    })
}

test('every link between pages leads to a page, and to a heading in it', () => {
  assert.ok(pages.length > 20, 'the pages are found')
  const broken = pages.flatMap((page) => brokenLinks(page).map((target) => `${page}: ${target}`))
  assert.deepEqual(broken, [])
})
