// A store that was restored to an earlier state, call by call: what a process that has not noticed yet asks for and gets.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { epochOf } from '../../src/roster/share.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import type { UserTransaction } from '../../src/tx.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { asPut, openPool } from '../../src/testing/pool-driver.ts'
import { asMember, change, decision, held, known, openTwo } from '../../src/testing/roster-driver.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15, { fsync: false })
let schemas = 0

interface Place {
  /** Opened before the dump; whatever was written by it after that is gone with the restore. */
  old: Store
  open(): Promise<Store>
  restore(): Promise<void>
  /** Begins another life, as a restart of the server does. */
  renew(): Promise<unknown>
}

/** `prepare` writes what is dumped. */
async function openDumped(prepare: (store: Store) => Promise<void> = async () => undefined): Promise<Place> {
  assert.ok(server !== null)
  const schema = `life_${(schemas += 1)}`
  const open = (): Promise<Store> =>
    openStore(server.url({ schema }), {
      clock: systemClock,
      telemetry: createTelemetry('test'),
      faults: noFaults,
    })
  const old = await open()
  await prepare(old)
  await server.run(`update ${schema}.entry set due_at = due_at - 60000`)
  const dumped = server.dump(schema)
  return {
    old,
    open,
    restore: () => server.restore(schema, dumped),
    renew: () => server.run(`select ${schema}.renew(generation) from ${schema}.generation`),
  }
}

/** A call that meets another numbering is not made, and is made again by its caller. */
async function again<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'store_went_back')
    return call()
  }
}

void describe('a store that was restored', { skip: server === null }, () => {
  after(() => server?.remove())

  for (const query of [{ key: 'k1' }, { prefix: 'k' }, { group: 'k1' }, {}]) {
    const by = Object.keys(query)[0] ?? 'nothing'
    test(`[Y22] a listing by ${by} reads the pool by the number that it has now`, async () => {
      const { old, open, restore } = await openDumped()
      await openPool(old, { name: 'x' })
      await restore()
      const other = await open()
      await openPool(other, { name: 'x' })
      await other.pool.entries.put('x', [{ puts: [asPut('k1')], repeat: null }])
      const { entries } = await again(() => old.pool.browse.list('x', { ...query, limit: 10 }))
      assert.deepEqual(
        entries.map(({ key }) => key),
        ['k1'],
      )
      await Promise.all([old.close(), other.close()])
    })
  }

  test('[Q7] the epoch of a share stays a safe integer after a restore, however many are removed', async () => {
    const { old, open, restore } = await openDumped()
    await restore()
    const store = await open()
    await openTwo(store)
    const share = { name: 'share/id/vms', partitions: 1024 }
    let last = -1
    for (let nth = 0; nth < 10; nth += 1) {
      await store.roster.join(asMember(`c${nth}`, { serves: [share.name], leads: false }), [share])
      const changes = Array.from({ length: share.partitions }, (_, residue) => ({
        ...change(residue, null, held(`c${nth}`, 1)),
        resource: share.name,
      }))
      const { leader } = await known(store, 'a')
      await store.roster.decide(decision({ term: leader?.term ?? 0, changes }))
      const epoch = epochOf(await store.roster.view(), share)
      assert.ok(epoch > last && Number.isSafeInteger(epoch), `${epoch} after ${last}`)
      last = epoch
      await store.roster.leave(`c${nth}`, [])
      await store.roster.markIdle({ idle: [share.name], busy: [] })
      await store.roster.forget([share.name], 0)
    }
    await Promise.all([old.close(), store.close()])
  })

  test('[Y22] a pulse finds what is due again since the restore, however long ago it was due', async () => {
    const pools = [{ pool: 'x', partitions: [0, 1, 2, 3] }]
    const { old, restore } = await openDumped(async (store) => {
      await (await openPool(store, { name: 'x' })).put('k1')
    })
    const due = async (): Promise<number | null | undefined> =>
      (await again(() => old.pulse({ beat: null, pools }))).nextDueAt.get('x')
    assert.equal(typeof (await due()), 'number')
    await old.pool.entries.cancel('x', { key: 'k1' })
    assert.equal(await due(), null)
    assert.equal(await due(), null)
    await restore()
    await due()
    assert.equal(typeof (await due()), 'number')
    await old.close()
  })

  test('[Y22] a put in a transaction whose library wraps errors is refused once after a restart', async () => {
    assert.ok(server !== null)
    const { old: store, renew } = await openDumped()
    await openPool(store, { name: 'x' })
    await renew()
    const client = new Client({ connectionString: server.url() })
    await client.connect()
    const wrapping: UserTransaction = {
      query: (query) =>
        client.query(query).catch((cause: unknown) => {
          throw new Error('Failed query', { cause })
        }),
    }
    const put = async (): Promise<void> => {
      await client.query('begin')
      try {
        await store.arrivals?.put(wrapping, 'x', [asPut('k1')])
      } finally {
        await client.query('rollback')
      }
    }
    await assert.rejects(put(), { code: 'store_went_back' })
    await put()
    await Promise.all([client.end(), store.close()])
  })
})
