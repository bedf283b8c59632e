// What SQLite's errors are called outside.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../../src/errors.ts'
import { toHeadraceError } from '../../../../src/stores/sqlite/database.ts'

const CODES: [name: string, errcode: number, code: string][] = [
  ['no room for the file', 13, 'store_full'],
  ['no room for the index of the log', 4874, 'store_full'],
  ['locked', 5, 'store_busy'],
  ['a disk that fails to sync', 1034, 'store_failed'],
  ['against a constraint', 19, 'store_refused'],
]

for (const [name, errcode, code] of CODES) {
  test(`${name} is ${code}`, () => {
    const error = toHeadraceError(Object.assign(new Error(name), { errcode }), 'headrace.db')
    assert.ok(error instanceof HeadraceError)
    assert.deepEqual(
      [error.code, error.cause instanceof Error, error.remedy !== undefined],
      [code, true, true],
    )
  })
}
