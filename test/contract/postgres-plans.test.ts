// The plans of the statements that run often: with the statistics of an empty table, and with fresh ones.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startPostgres } from '../servers/postgres.ts'
import { faultsOf, fillTables, statements } from './postgres-plans.ts'

const ROWS = 200_000

void describe('postgres: plans', async () => {
  const server = await startPostgres(15, { fsync: false })
  if (server === null) {
    void test('[Y6] plans', { skip: 'it is not installed' })
    return
  }
  after(() => server.remove())
  await fillTables(server, ROWS)
  for (const when of ['the statistics of an empty table', 'fresh statistics']) {
    for (const statement of statements) {
      void test(`[Y6] with ${when}, ${statement.name} reads ${ROWS} rows by index`, async () => {
        if (when === 'fresh statistics') await server.run('analyze')
        assert.deepEqual(await faultsOf(server, statement), [])
      })
    }
  }
})
