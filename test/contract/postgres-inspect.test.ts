// What the PostgreSQL store finds of itself, on a server whose commits wait for the disk, and on one whose do not.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { headrace } from '../../src/headrace.ts'
import { inspectContract } from '../../src/testing/inspect-contract.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { startPostgres } from '../servers/postgres.ts'
import { postgresPlaces } from './open-postgres.ts'

const server = await startPostgres(15)
if (server === null) {
  void test('postgres: inspection', { skip: 'it is not installed' })
} else {
  const places = postgresPlaces(server)
  after(async () => {
    await places.close()
    await server.remove()
  })
  inspectContract('postgres 15', places.openSubject)

  void test('a server whose commits do not wait for the disk is found, with a remedy', async () => {
    await server.run('alter system set synchronous_commit = off')
    await server.run('select pg_reload_conf()')
    const { store, close } = await places.openSubject(new VirtualClock())
    const finding = (await store.inspect()).find(({ check }) => check === 'durability')
    assert.deepEqual(finding?.ok, false)
    assert.match(finding?.remedy ?? '', /set synchronous_commit to on/)
    await close()
  })

  void test('puts of transactions that no member folds are named, with their pool', async () => {
    const race = await headrace({ store: server.url({ schema: 'unfolded' }), log: 'silent' })
    const find = async () => (await race.store.inspect()).find(({ check }) => check === 'arrivals')
    const client = new Client({ connectionString: server.url() })
    await client.connect()
    await client.query('begin')
    await race.pool('mials').put('a', { tx: client })
    assert.equal((await find())?.ok, true, 'it is not committed')
    await client.query('commit')
    await client.end()
    const finding = await find()
    assert.match(finding?.detail ?? '', /no member works on their pool: 1 in the pool mials$/)
    assert.match(finding?.remedy ?? '', /race\.work\(\)/)
    race.work(race.pool('mials'), () => undefined)
    await race.start()
    assert.equal((await find())?.ok, true, 'a member works on it')
    await race.stop()
  })

  void test('the transaction that keeps removed rows is named, with its process', async () => {
    const { store, close } = await places.openSubject(new VirtualClock())
    const holder = new Client({ connectionString: server.url(), application_name: 'a long dump' })
    await holder.connect()
    await holder.query('begin isolation level repeatable read; select from pg_class limit 1')
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid
    const finding = (await store.inspect()).find(({ check }) => check === 'horizon')
    assert.equal(finding?.ok, true, 'it is young')
    assert.match(
      finding.detail,
      new RegExp(`^the transaction of a long dump \\(pid ${pid}, idle in transaction, open for \\d+ s\\)`),
    )
    await holder.end()
    await close()
  })

  void test('[Y13] a default isolation other than read committed is found, with a remedy', async () => {
    await server.run("alter role headrace set default_transaction_isolation = 'repeatable read'")
    const { store, close } = await places.openSubject(new VirtualClock())
    const finding = (await store.inspect()).find(({ check }) => check === 'isolation')
    assert.deepEqual([finding?.ok, finding?.detail], [false, 'repeatable read'])
    assert.match(
      finding?.remedy ?? '',
      /alter role NAME set default_transaction_isolation = 'read committed'/,
    )
    await server.run('alter role headrace reset default_transaction_isolation')
    await close()
  })
}
