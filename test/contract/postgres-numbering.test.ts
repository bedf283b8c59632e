// A transaction that waited for a connection while the numbers of pools changed is not made with the old ones.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Pool } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { openStore } from '../../src/stores/open.ts'
import { type Call, Connections } from '../../src/stores/postgres/connections.ts'
import { Life, type Numbered, findLife } from '../../src/stores/postgres/life.ts'
import { Queries } from '../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15, { fsync: false })
const CALL: Call = { operation: 'commit', timeoutMs: 5000, again: 'undone' }

interface Opened {
  work: Connections
  vital: Connections
  /** Of the work alone: one connection. */
  pool: Pool
  queries: Queries
  life: Life
}

async function openLife(
  numbered: Numbered = { count: 0, renumber: async () => () => true },
): Promise<Opened> {
  assert.ok(server !== null)
  const telemetry = createTelemetry('test')
  await (await openStore(server.url(), { clock: systemClock, telemetry, faults: noFaults })).close()
  const queries = new Queries('headrace')
  const shared = { clock: systemClock, telemetry, address: 'postgres://db', queries, canGrow: true }
  const pool = new Pool({ connectionString: server.url(), max: 1 })
  const work = new Connections({ ...shared, pool })
  const vital = new Connections({ ...shared, pool: new Pool({ connectionString: server.url(), max: 1 }) })
  const { generation } = await findLife(vital, queries)
  const renewed = (): void => undefined
  const parts = { connections: vital, queries, telemetry, numbered: [numbered], renewed }
  const life = new Life(parts, generation)
  work.follow(life)
  return { work, vital, pool, queries, life }
}

void describe('a transaction that waits for a connection', { skip: server === null }, () => {
  after(() => server?.remove())

  test('[Y22] it is not made when numbers of pools have changed meanwhile', async () => {
    const { work, vital, pool, queries, life } = await openLife()
    const client = await pool.connect()
    let isMade = false
    const waiting = work.transaction(CALL, async () => (isMade = true))
    await life.renew(queries.life)
    client.release()
    await assert.rejects(waiting, { code: 'store_went_back' })
    assert.equal(isMade, false)
    await Promise.all([work.close(), vital.close()])
  })

  test('[Y21] a doubt that comes while a life is learned begins another generation all the same', async () => {
    const { work, vital, queries, life } = await openLife()
    const { generation } = life
    await Promise.all([life.renew(queries.life), life.doubt(generation)])
    assert.notEqual(life.generation, generation)
    await Promise.all([work.close(), vital.close()])
  })

  test('[Y22] a number that comes while numbers are read again is read again, too', async () => {
    const read: number[] = []
    const numbered = {
      count: 1,
      renumber: async () => {
        read.push(numbered.count)
        if (read.length === 1) numbered.count = 2
        return () => false
      },
    }
    const { work, vital, queries, life } = await openLife(numbered)
    await life.renew(queries.life)
    assert.deepEqual(read, [1, 2])
    await Promise.all([work.close(), vital.close()])
  })
})
