// Every example runs, and prints what its README says.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, emptyFolder, outputOf, root, startServer } from './run-example.ts'

const folders = globSync('examples/*/README.md', { cwd: root }).map((path) => path.split(/[/\\]/)[1] ?? '')

/** How late a tick is differs from run to run; that it is not early must not. */
const withoutLateness = (text: string): string => text.replace(/\b\d{1,4} ms late/g, 'a little late')

function programOf(folder: string): string {
  return join(root, 'examples', folder, `${folder.replace(/^\d+-/, '')}.ts`)
}

async function checkExample(folder: string, env: Record<string, string> = {}): Promise<void> {
  using place = emptyFolder()
  const [expected = ''] = blocksOf(`examples/${folder}/README.md`, 'text')
  const printed = await outputOf(programOf(folder), { cwd: place.path, env })
  assert.equal(withoutLateness(printed), withoutLateness(expected))
}

for (const folder of folders.toSorted()) {
  test(`the example ${folder} prints what its README says`, async () => {
    await using server = await startServer()
    await checkExample(folder, { HEADRACE_SERVER: server.url })
  })

  test(`the README of ${folder} names the command that runs it`, () => {
    const path = `examples/${folder}/${basename(programOf(folder))}`
    const commands = blocksOf(`examples/${folder}/README.md`, 'sh').join('\n')
    assert.match(commands, new RegExp(`^npm run -s example -- ${path}$`, 'm'))
  })
}

test('there are examples', () => {
  assert.ok(folders.length >= 4)
})
