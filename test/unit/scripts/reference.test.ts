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
