// What SQLite would do for each named query: a scan or a sort of a table that grows is a defect.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { loadQueries } from '../../../../src/sql.ts'
import { QUERY_FILES } from '../../../../src/stores/sqlite/database.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

/** A row for each topic, partition, pool or member, and the list that a call gives: these may be scanned. */
const SMALL =
  /^SCAN (json_each|pool|topic|head|fence|member|resource|allotment|leader|generation|\d+ CONSTANT ROW|CONSTANT ROW)/

/** Of which no more than a page is kept. */
const SORTS_ONE_KEY = 'list_key: USE TEMP B-TREE FOR ORDER BY'

function queries(): [name: string, query: string][] {
  const folder = new URL('../../../../src/stores/sqlite/', import.meta.url)
  return QUERY_FILES.flatMap((file) => [...loadQueries(new URL(file, folder))])
}

test('no query scans or sorts a table that grows', async () => {
  const path = await sqliteFiles.create()
  await (await sqliteFiles.open(path, new VirtualClock())).close()
  const database = new DatabaseSync(path)
  const costly = queries().flatMap(([name, query]) => {
    const steps = database.prepare(`explain query plan ${query}`).all()
    return steps
      .map(({ detail }) => String(detail))
      .filter((detail) => /^SCAN|TEMP B-TREE/.test(detail) && !SMALL.test(detail))
      .map((detail) => `${name}: ${detail}`)
      .filter((step) => step !== SORTS_ONE_KEY)
  })
  database.close()
  await sqliteFiles.remove(path)
  assert.deepEqual(costly, [])
})

test('a page of a listing is read from its cursor on', async () => {
  const path = await sqliteFiles.create()
  await (await sqliteFiles.open(path, new VirtualClock())).close()
  const database = new DatabaseSync(path)
  const plans = queries()
    .filter(([name]) => name === 'list_live' || name === 'list_dead')
    .map(([, query]) => database.prepare(`explain query plan ${query}`).get()?.['detail'])
  database.close()
  await sqliteFiles.remove(path)
  assert.equal(plans.length, 2)
  for (const plan of plans) assert.match(String(plan), /\(due_at,key,slot\)>\(\?,\?,\?\)/)
})
