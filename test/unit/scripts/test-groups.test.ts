// A run that leaves out a group must not pass: what did not run proves nothing.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { groups, missingGroups } from '../../../scripts/test-groups.ts'

const root = join(import.meta.dirname, '../../..')

async function folderWith(t: TestContext, files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-groups-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const file of files) {
    await mkdir(join(folder, file, '..'), { recursive: true })
    await writeFile(join(folder, file), '')
  }
  return folder
}

test('each group of this repository has tests', () => {
  assert.deepEqual(missingGroups(groups, root), [])
})

test('a group whose folder is absent, or holds no test, is missing', async (t) => {
  const folder = await folderWith(t, ['test/unit/deep/a.test.ts', 'test/fault/load.ts'])
  const wanted = ['test/unit', 'test/fault', 'test/contract'].map((name) => ({
    folder: name,
    concurrency: 1,
  }))
  assert.deepEqual(missingGroups(wanted, folder), ['test/fault', 'test/contract'])
})
