import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../../../src/stores/postgres/address.ts'

test('our own parameters are taken out of the address, and the rest is the driver’s', () => {
  const address = 'postgres://me:secret@db:5433/work?schema=race&max=20&sslmode=require'
  assert.deepEqual(parseAddress(address), {
    connection: 'postgres://me:secret@db:5433/work?sslmode=require',
    schema: 'race',
    max: 20,
    shown: 'postgres://me@db:5433/work?schema=race',
  })
})

test('without parameters the schema is headrace, and the address is shown without the password', () => {
  const { schema, max, shown } = parseAddress('postgresql://me:secret@db/work')
  assert.deepEqual([schema, max, shown], ['headrace', 10, 'postgresql://me@db/work'])
})

for (const schema of ['', 'A', '1a', 'a"b', 'a.b', 'pg_temp', 'x'.repeat(64)]) {
  test(`the schema ${JSON.stringify(schema)} is refused`, () => {
    const address = `postgres://db/work?schema=${encodeURIComponent(schema)}`
    assert.throws(() => parseAddress(address), { code: 'store_unknown' })
  })
}
