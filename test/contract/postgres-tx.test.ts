// Puts and appends in a user's own transaction, through the public API, folded by a running member.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client } from 'pg'
import { headrace } from '../../src/headrace.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15)

void describe('transactions of users', { skip: server === null }, () => {
  after(() => server?.remove())

  test('[U1] [U2] what a transaction put and appended runs after its commit, and never if it is rolled back', async () => {
    assert.ok(server !== null)
    await using race = await headrace({ store: server.url({ schema: 'tx' }) })
    const ticks = race.ticks('ticks', { partitions: 4 })
    const orders = race.topic<{ order: number }>('orders', { partitions: 2 })
    const work = race.pool('work', { partitions: 2 })
    race.work(work, () => undefined)
    await race.start()
    const client = new Client({ connectionString: server.url() })
    await client.connect()
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await client.query('BEGIN')
      assert.deepEqual(await ticks.pool.put(end, { tx: client }), { result: 'accepted' })
      assert.deepEqual(await work.put(end, { tx: client, in: '1h' }), { result: 'accepted' })
      const event = { key: 'o', value: { order: 1 }, id: end }
      assert.deepEqual(await orders.append([event], { tx: client }), { result: 'accepted' })
      await client.query(end)
    }
    await client.end()
    const idsOf = async (topic: string): Promise<string[]> => {
      const { partitions } = await race.store.log.topic(topic)
      const from = Array.from({ length: partitions }, (_, partition) => ({ partition, offset: 0 }))
      const { events } = await race.store.log.read(topic, { from, limit: 100, maxBytes: 1e6 })
      return events.map(({ id, key }) => (topic === 'orders' ? id : key))
    }
    const deadline = performance.now() + 10_000
    while (performance.now() < deadline && (await idsOf('ticks')).length === 0) await race.clock.sleep(20)
    await race.clock.sleep(1200)
    assert.deepEqual(await idsOf('ticks'), ['COMMIT'])
    assert.deepEqual(await idsOf('orders'), ['COMMIT'])
    assert.deepEqual(
      (await work.list({ limit: 10 })).entries.map(({ key }) => key),
      ['COMMIT'],
    )
  })
})
