// The command line on a PostgreSQL store, beside its server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from '../servers/postgres.ts'
import { assertSameOnStore } from '../unit/cli/on-store.ts'
import { openServer } from '../unit/client/open-server.ts'

test('every command that reads or steers does the same on a PostgreSQL store as on its server', async (t) => {
  const postgres = await startPostgres(15, { fsync: false })
  assert.ok(postgres !== null, 'npm run provision installs PostgreSQL 15')
  t.after(() => postgres.remove())
  const store = postgres.url()
  await using server = await openServer({ store, name: 'served' })
  await assertSameOnStore(server.url, store)
})
