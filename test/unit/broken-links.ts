// Which links of a page lead nowhere, within one folder: the repository, or the installed package.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `npm run prove -- CAPABILITY --report` writes these; a fresh branch may not have them yet. */
const written = /^docs\/operating\/proof\//

/** What is read by people and by programs that write code. */
export const PAGES = ['*.md', 'llms.txt', 'docs/**/*.md', 'examples/*/README.md']

/** As GitHub makes them: lower case, spaces to dashes, other signs left out. */
function anchorsOf(file: string): string[] {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)]
  return headings.map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** The links of a page that lead to no file of the root, or to no heading in it. */
export function brokenLinks(root: string, page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[^]*?^```$/gm, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (written.test(file)) return false
      if (file.startsWith('..') || !existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(join(root, file)).includes(anchor)
    })
}
