// Every statement that names a pool or topic by its number names the life of the server, too. [Y22]
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { loadQueries } from '../../../../src/sql.ts'
import { Queries } from '../../../../src/stores/postgres/queries.ts'

const FOLDER = new URL('../../../../src/stores/postgres/', import.meta.url)
const LIFE = 'a-life'
/** They stand in a transaction with another statement that names its life, and are undone with it. */
const BESIDE_OTHERS = [
  'forget_payloads',
  'keep_payloads',
  'lock_entries',
  'remove_entry',
  'repeated_entries',
  'settle_payloads',
  'weigh_payloads',
  'write_repeated',
]

/** Parts of other statements. */
const PARTS = ['due_later', 'due_shares']

test('[Y22] a statement by a number of a pool or topic does nothing in another life', () => {
  const queries = new Queries('headrace')
  const loose = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .flatMap((file) => [...loadQueries(new URL(file, FOLDER)).keys()])
    .map((name) => ({ name, text: queries.text(name, LIFE) }))
    .filter(
      ({ text }) => !text.startsWith('-- No query but') && /\b(pool|topic|scope|p\.id) = \$1\b/.test(text),
    )
    .filter(({ text }) => !text.includes(LIFE))
    .map(({ name }) => name)
    .filter((name) => !PARTS.includes(name))
  assert.deepEqual(loose.toSorted(), BESIDE_OTHERS)
})
