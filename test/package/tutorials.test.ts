// Every page of docs/start works as written for somebody who installed the package into an empty folder.
import assert from 'node:assert/strict'
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { install, root } from './install.ts'
import { Walk, blocksOf, matches } from './walk-through.ts'

const { folder, [Symbol.dispose]: remove } = await install()
after(remove)

test('a page is read as blocks with words, and lines are compared without times', () => {
  const [block] = blocksOf('text\n\n```sh background=a until=ready\nls\n```\n')
  assert.deepEqual(block, { language: 'sh', words: { background: 'a', until: 'ready' }, text: 'ls\n' })
  assert.ok(
    matches('x\nat 2026-11-18T01:40:24.288Z  in 5ms\ny (a)\n', 'at 2020-01-01T00:00:00Z in 7 s\n…\ny …\n'),
  )
  assert.ok(!matches('b\na\n', 'a\nb\n'))
})

void describe('tutorials', { concurrency: true }, () => {
  for (const page of globSync('docs/start/*.md', { cwd: root }).toSorted()) {
    void test(`${page} works as written in an empty folder`, async (t) => {
      const place = join(folder, page.replaceAll(/\W+/g, '-'))
      mkdirSync(place)
      cpSync(join(folder, 'package.json'), join(place, 'package.json'))
      symlinkSync(join(folder, 'node_modules'), join(place, 'node_modules'))
      const walk = await Walk.begin(place)
      t.after(() => walk.end())
      await walk.follow(readFileSync(join(root, page), 'utf8'))
    })
  }
})
