// A poison entry, with real processes: what it does no harm to is done, and it ends.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startPostgres } from '../servers/postgres.ts'
import { poison } from './poison.ts'

const server = await startPostgres(15, { fsync: false })
const skip = server === null ? 'PostgreSQL 15 is not installed' : false
after(() => server?.remove())

const LOAD = { innocents: 49, takesMs: 100 }
const EXPECTED = { crashes: 3, deaths: ['poison: crashed'], left: 0 }

test('[X46] [V19] on a file: a run that ends its process is dead after three crashes, and no innocent one is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-poison-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { tookMs, ...found } = await poison({ ...LOAD, store: `sqlite:${join(folder, 'headrace.db')}` })
  assert.deepEqual(found, EXPECTED, `after ${tookMs} ms`)
})

test(
  '[X46] [V19] on PostgreSQL: a run that ends its process is dead after three crashes, and no innocent one is',
  { skip },
  async () => {
    assert.ok(server)
    const { tookMs, ...found } = await poison({ ...LOAD, store: server.url({ schema: 'poison' }) })
    assert.deepEqual(found, EXPECTED, `after ${tookMs} ms`)
  },
)
