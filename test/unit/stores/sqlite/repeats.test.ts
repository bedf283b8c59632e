// How much work a list is in which one key stands many times.
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { asPut, openPool } from '../../../../src/testing/pool-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { quickSqliteFiles } from '../../../contract/open-sqlite.ts'

const PUTS = 10_000
const AT = START + 600_000

test('[R5] one key 10,000 times in a list, in mode one, takes a few statements, and is answered', async (t) => {
  const path = await quickSqliteFiles.create()
  const store = await quickSqliteFiles.open(path, new VirtualClock())
  t.after(async () => {
    await store.close()
    await quickSqliteFiles.remove(path)
  })
  const pool = await openPool(store)
  const calls = (['run', 'get', 'all'] as const).map((name) => t.mock.method(StatementSync.prototype, name))
  const puts = Array.from({ length: PUTS }, () => asPut('a', { at: AT }))
  const answers = await pool.putAll([...puts, asPut('a', { at: AT, onConflict: 'replace' })])
  const statements = calls.reduce((sum, { mock }) => sum + mock.callCount(), 0)
  assert.ok(statements < 30, `${statements} statements`)
  assert.deepEqual(answers[0], { result: 'created', dueAt: AT, tally: 1 })
  assert.deepEqual(answers[PUTS - 1], { result: 'merged', dueAt: AT, tally: PUTS })
  assert.deepEqual(answers[PUTS], { result: 'replaced', dueAt: AT, tally: 1 })
  assert.deepEqual(
    (await pool.list({ limit: 10 })).map(({ key, next }) => [key, next.tally]),
    [['a', 1]],
  )
})
