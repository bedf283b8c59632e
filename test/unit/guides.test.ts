// Pages for users show commands that work where the package was installed into an empty folder.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FLOOR } from '../../src/floor.ts'

const root = join(import.meta.dirname, '../..')

test('guides and tutorials call the command by npx, and no script of the repository', () => {
  const pages = globSync(['docs/start/*.md', 'docs/guides/*.md'], { cwd: root })
  assert.ok(pages.length >= 10, 'the pages are found')
  const wrong = pages.flatMap((page) =>
    readFileSync(join(root, page), 'utf8')
      .split('\n')
      .filter((line) => /^(\$ )?headrace |npm (run|start|test)\b/.test(line))
      .map((line) => `${page}: ${line}`),
  )
  assert.deepEqual(wrong, [])
})

test('README.md states the floor of Node once, as package.json has it, and no tutorial states another', () => {
  const pages = ['README.md', ...globSync('docs/start/*.md', { cwd: root })]
  const stated = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/Node (\d[\d.]*) or newer/g)].map(
      ([, floor]) => floor,
    ),
  )
  assert.deepEqual(stated, [FLOOR])
})
