// How much work a list is in which one key stands many times.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { asPut, openPool } from '../../src/testing/pool-driver.ts'
import { openHouse } from './postgres-house.ts'

const { server, skip, newSchema, open } = await openHouse()
const PUTS = 10_000

void describe('postgres: repeats', { skip }, () => {
  for (const mode of ['one', 'each'] as const) {
    void test(`[R5] one key 10,000 times in a list, in mode ${mode}, takes a few statements, and is answered`, async () => {
      const schema = newSchema()
      const pool = await openPool(await open(schema), { mode })
      const at = systemClock.now() + 600_000
      const answers = await pool.putAll(Array.from({ length: PUTS }, () => asPut('a', { at })))
      assert.deepEqual(answers[0], { result: 'created', dueAt: at, tally: 1 })
      const last = mode === 'one' ? { result: 'merged', tally: PUTS } : { result: 'kept', tally: 1 }
      assert.deepEqual(answers.at(-1), { ...last, dueAt: at })
      // Every statement that puts, and every round that is noted, leaves a row.
      const [noted] = await server.run(`select count(*)::integer as rounds from ${schema}.request`)
      assert.ok(Number(noted?.['rounds']) <= 3, `${String(noted?.['rounds'])} rounds`)
    })
  }
})
