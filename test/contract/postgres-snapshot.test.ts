// What an old snapshot keeps in the index of due times: a take that has to pass it ends in time, and goes on where it ended.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Taken } from '../../src/pool/store.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { openPool } from '../../src/testing/pool-driver.ts'
import { makeDead } from '../servers/dead-entries.ts'
import { type Holding, openHouse, until } from './postgres-house.ts'

const { server, skip, newSchema, open, holding, closeAfter } = await openHouse()

const DEAD = { pool: 'work', partitions: 4, count: 400_000, withinMs: 1_800_000 }
/** Less than it takes to read all of them at once, on any machine. */
const STATEMENT_MS = 30

/** A store whose statements the server ends after a short time, so that reading all dead entries is too much for one. */
async function openHurried(schema: string): Promise<Store> {
  const url = new URL(server.url({ schema }))
  url.searchParams.set('options', `-c statement_timeout=${STATEMENT_MS}`)
  const context = { clock: systemClock, telemetry: createTelemetry('test'), faults: noFaults }
  const store = await openStore(url.href, context)
  closeAfter(store)
  return store
}

/** A pool with many removed entries, which a snapshot keeps, and one live entry behind them. */
async function openOld(schema: string): Promise<Holding> {
  const pool = await openPool(await open(schema))
  const snapshot = await holding(
    `set transaction isolation level repeatable read; select count(*) from ${schema}.pool`,
  )
  await makeDead(server, { schema, ...DEAD })
  await pool.put('behind')
  await server.run(`update ${schema}.entry set due_at = ${schema}.now_ms() - 15000 where key = 'behind'`)
  return snapshot
}

void describe('postgres: an old snapshot', { skip }, () => {
  void test('[D6] [Y16] a take that cannot read everything in time goes on where it ended', async () => {
    const schema = newSchema()
    await using snapshot = await openOld(schema)
    const store = await openHurried(schema)
    await openPool(store)
    const found: Taken[] = []
    let from = 0
    await until('the live entry is taken', async () => {
      const taken = await store.pool.entries.take('work', {
        partitions: null,
        lane: 'normal',
        from,
        limit: 100,
      })
      found.push(taken)
      if (taken.runs.length > 0) return true
      assert.ok(taken.isPart === true && taken.cutAt !== undefined && taken.cutAt >= from)
      from = taken.cutAt
      return false
    })
    assert.deepEqual(
      found.at(-1)?.runs.map(({ key }) => key),
      ['behind'],
    )
    await snapshot.letGo()
  })
})
