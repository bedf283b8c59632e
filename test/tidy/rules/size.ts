// File, function and test length. The formatter decides the lines, so indentation shows where a block ends.
// oxlint holds functions in src; the rule here holds them where oxlint would count a describe() as one.
import { isTypeScript, type Rule } from '../rule.ts'

const fileLimit = 500
const testFileLimit = 300
const functionLimit = 70
const testLimit = 40

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line(${n})`).join('\n')

const fileLength: Rule = {
  title: `no file has more than ${fileLimit} lines, and no file of tests more than ${testFileLimit}`,
  appliesTo: (path) => /\.(ts|tsx|js|mjs|css|sql|lua)$/.test(path),
  check({ path, text }) {
    const count = text.trimEnd().split('\n').length
    const limit = path.startsWith('test/') ? testFileLimit : fileLimit
    return count > limit ? [`${count} lines: is it still one thing?`] : []
  },
  bad: [
    { path: 'src/long.sql', text: lines(fileLimit + 1) },
    { path: 'test/long.test.ts', text: lines(testFileLimit + 1) },
  ],
  good: [{ path: 'src/fits.ts', text: `${lines(fileLimit)}\n` }],
}

interface Block {
  line: number
  kind: 'function' | 'test'
  length: number
}

const opening = /^(?<indent> *)(?:(?<test>(?:test|it)\()|(?:export )?(?:async )?function\b)/

/** Blocks that open with `function` or `test(`; each ends at the first line indented no deeper. */
function blocks(text: string): Block[] {
  const all = text.split('\n')
  return all.flatMap((first, index): Block[] => {
    const match = opening.exec(first)
    if (match === null || !/[({]$/.test(first)) return []
    const indent = match.groups?.['indent'] ?? ''
    const rest = all.slice(index + 1)
    const end = rest.findIndex(
      (line) => line.startsWith(indent) && /^[})]+[;,)]*$/.test(line.slice(indent.length)),
    )
    const kind = match.groups?.['test'] === undefined ? 'function' : 'test'
    return [{ line: index + 1, kind, length: end + 2 }]
  })
}

const blockLength: Rule = {
  title: `no test has more than ${testLimit} lines, and no function beside one more than ${functionLimit}`,
  appliesTo: (path) => path.startsWith('test/') && isTypeScript(path),
  check({ text }) {
    return blocks(text)
      .filter(({ kind, length }) => length > (kind === 'test' ? testLimit : functionLimit))
      .map(({ kind, length, line }) => `line ${line}: a ${kind} of ${length} lines`)
  },
  bad: [
    { path: 'test/a.test.ts', text: `  test('is long', async () => {\n${lines(39)}\n  })` },
    { path: 'test/b.ts', text: `function long(): void {\n${lines(69)}\n}` },
  ],
  good: [
    {
      path: 'test/a.test.ts',
      text: `test('fits', () => {\n${lines(38)}\n})\ntest('too', () => {\n${lines(38)}\n})`,
    },
    { path: 'test/b.ts', text: `export async function fits(): Promise<void> {\n${lines(68)}\n}` },
  ],
}

export const sizeRules = [fileLength, blockLength]
