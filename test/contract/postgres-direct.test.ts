// What stands between a store and its server: nothing, a proxy that passes everything on, or a pooler that lends sessions.
import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Client, Pool } from 'pg'
import { type Clock, systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { type Call, Connections } from '../../src/stores/postgres/connections.ts'
import { NotifyListener } from '../../src/stores/postgres/notify-listener.ts'
import { Queries } from '../../src/stores/postgres/queries.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { asPut, openPool } from '../../src/testing/pool-driver.ts'
import { startBouncer } from '../servers/pgbouncer.ts'
import { type PostgresServer, account, startPostgres } from '../servers/postgres.ts'
import { startProxy } from '../servers/proxy.ts'
import { until } from './postgres-house.ts'

const sockets = mkdtempSync(join(tmpdir(), 'headrace-sockets-'))
if (account.uid !== undefined) chownSync(sockets, account.uid, account.gid)
const found = await startPostgres(15, { fsync: false, settings: { unix_socket_directories: sockets } })
const server = found as PostgresServer
const overTcp = found === null ? null : await startBouncer(found)
const overSockets = found === null ? null : await startBouncer(found, { sockets })
const telemetry = createTelemetry('direct')
const stores: Store[] = []
after(async () => {
  for (const store of stores) await store.close()
  for (const each of [overTcp, overSockets, found]) await each?.remove()
  rmSync(sockets, { recursive: true, force: true })
})
const skip = found === null ? 'it is not installed' : false
const skipPooler = overTcp === null ? 'PgBouncer is not installed' : skip

async function openAt(address: string): Promise<Store> {
  const store = await openStore(address, { clock: systemClock, telemetry, faults: noFaults })
  stores.push(store)
  return store
}

async function listening(schema: string): Promise<number> {
  const text = 'select from pg_stat_activity where query = $1'
  return (await server.run(text, [`listen "${schema}"`])).length
}

/** Many at once, so that a pooler lends every session to several connections. */
async function putMany(store: Store): Promise<void> {
  const pool = await openPool(store)
  const at = systemClock.now() + 600_000
  const puts = Array.from({ length: 200 }, (_, nth) => pool.putAll([asPut(`key-${nth}`, { at })]))
  assert.equal((await Promise.all(puts)).length, 200)
}

void describe('postgres: what stands between', { skip }, () => {
  void test('[Y5] a proxy that passes everything on is direct, as a socket of the system is', async () => {
    const proxy = await startProxy(server.port)
    const url = new URL(server.url({ schema: 'proxied' }))
    url.port = String(proxy.port)
    const store = await openAt(url.href)
    await putMany(store)
    assert.equal(await listening('proxied'), 1)
    await openAt(server.url({ schema: 'by_socket', host: sockets }))
    assert.equal(await listening('by_socket'), 1)
    await store.close()
    await proxy.close()
  })

  for (const way of ['tcp', 'sockets'] as const) {
    void test(
      `[Y5] a pooler is found over ${way}, and nothing listens or has a name`,
      { skip: skipPooler },
      async () => {
        const schema = `pooled_${way}`
        const bouncer = way === 'tcp' ? overTcp : overSockets
        const store = await openAt(bouncer?.url({ schema }) ?? '')
        const pooler = (await store.inspect()).find(({ check }) => check === 'pooler')
        assert.match(pooler?.detail ?? '', /through a pooler/)
        await putMany(store)
        assert.equal(await listening(schema), 0)
      },
    )
  }
})

void describe('postgres: names that a session lacks or has', { skip }, () => {
  const queries = new Queries('names')
  const parts = { queries, clock: systemClock, telemetry, address: 'here', canGrow: true }
  const call: Call = { operation: 'read', timeoutMs: 1000, again: 'undone', hasOnePlan: true }

  for (const [what, statement] of [
    ['has already', 'prepare opening as select 1'],
    ['has lost', 'deallocate all'],
  ] as const) {
    void test(`[Y5] a statement whose name the session ${what} is made again without, as all later ones are`, async () => {
      const pool = new Pool({ connectionString: server.url(), max: 1 })
      const connections = new Connections({ ...parts, pool })
      if (what === 'has lost') connections.allowNames()
      await connections.query('opening', [], call)
      connections.allowNames()
      await pool.query(statement)
      assert.equal((await connections.query('opening', [], call)).length, 1)
      await pool.query('deallocate all')
      await connections.query('opening', [], call)
      const { rows } = await pool.query('select name from pg_prepared_statements')
      assert.deepEqual(rows, [])
      await connections.close()
    })
  }
})

void describe('postgres: the ear', { skip }, () => {
  void test('[Y12] there is one, also when its time to begin again comes while it begins', async () => {
    const made: Client[] = []
    const due: (() => void)[] = []
    const timer: Clock['timer'] = (_, fire) => {
      due.push(fire)
      return { cancel: () => undefined }
    }
    const ear = new NotifyListener({
      queries: new Queries('received'),
      clock: { ...systemClock, timer },
      config: { connectionString: server.url() },
      createClient(config) {
        const client = new Client(config)
        made.push(client)
        return client
      },
      receive: () => undefined,
      recovered: () => undefined,
    })
    const beginning = ear.listen()
    made[0]?.emit('error', new Error('it was late'))
    due[0]?.()
    await beginning
    await until('it listens', async () => (await listening('received')) === made.length)
    assert.equal(made.length, 1)
    await ear.close()
    await until('it is closed', async () => (await listening('received')) === 0)
  })
})
