// What the PostgreSQL store finds of itself, on a server whose commits wait for the disk, and on one whose do not.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
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
