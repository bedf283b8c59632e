// What is refused in a transaction of the user's own, and many puts in one, through the public API.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client, Pool } from 'pg'
import { type Headrace, headrace } from '../../src/headrace.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15)

async function open(schema: string): Promise<{ race: Headrace; client: Client; rows(): Promise<number> }> {
  assert.ok(server !== null)
  const race = await headrace({ store: server.url({ schema }) })
  const client = new Client({ connectionString: server.url() })
  await client.connect()
  await race.pool('work', { partitions: 2 }).open()
  const rows = async (): Promise<number> => {
    const counted = `select (select count(*) from ${schema}.arrival) + (select count(*) from ${schema}.event_arrival) as n`
    return Number((await client.query<{ n: string }>(counted)).rows[0]?.n)
  }
  return { race, client, rows }
}

void describe('transactions of users, refused and of many', { skip: server === null }, () => {
  after(() => server?.remove())

  test('[U4] a pool, and a client outside of a transaction, are refused, and nothing is written', async () => {
    const { race, client, rows } = await open('outside')
    const pool = new Pool({ connectionString: server?.url() })
    const refused = { code: 'invalid_options', message: /tx is not in a transaction/ }
    for (const tx of [pool, client]) {
      await assert.rejects(race.pool('work').put('a', { tx }), refused)
      await assert.rejects(race.pool('work').putAll([{ key: 'a' }], { tx }), refused)
      await assert.rejects(race.topic('log').append([{ key: 'a', value: 1 }], { tx }), refused)
    }
    assert.equal(await rows(), 0)
    await pool.end()
    await client.end()
    await race.stop()
  })

  test('[U4] a put that is not awaited is refused once its transaction has ended, and leaves nothing', async () => {
    const { race, client, rows } = await open('unawaited')
    const refused = { code: 'invalid_options', message: /tx is not in a transaction/ }
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
    for (const ends of [['rollback'], ['rollback', 'begin', 'rollback'], ['commit', 'begin', 'commit']]) {
      await client.query('begin')
      let count = 0
      // What the program sends without waiting for the put comes between the two statements of the put.
      const tx = {
        query: async (asked: unknown) => {
          if ((count += 1) === 2) for (const end of ends.slice(0, 2)) await client.query(end)
          return query(asked)
        },
      }
      await assert.rejects(race.pool('work').put('a', { tx }), refused)
      await client.query('rollback')
    }
    assert.equal(await rows(), 0)
    await client.end()
    await race.stop()
  })

  test('what is no transaction is refused with the names of the libraries', async () => {
    const { race, client } = await open('unknown')
    for (const tx of ['tx', {}, { execute: 1 }, () => undefined]) {
      await assert.rejects(race.pool('work').put('a', { tx: tx as never }), (error: Error) => {
        assert.match(
          String('remedy' in error && error.remedy),
          /postgres\.js, Drizzle, Kysely, Knex or Prisma/,
        )
        return true
      })
    }
    await client.end()
    await race.stop()
  })

  test('a role needs the documented rights to put in its transaction, and is told which', async () => {
    const { race, client } = await open('rights')
    await client.query('create role app; grant usage on schema rights to app; set role app')
    await client.query('begin')
    const refused = { code: 'invalid_options', remedy: /grant it usage .* select/ }
    await assert.rejects(race.pool('work').put('a', { tx: client }), refused)
    await client.query('rollback; reset role')
    await client.query('grant insert on rights.arrival, rights.event_arrival to app')
    await client.query('grant select on rights.generation, rights.turn to app; set role app')
    await client.query('begin')
    assert.deepEqual(await race.pool('work').put('a', { tx: client }), { result: 'accepted' })
    await client.query('commit')
    await client.end()
    await race.stop()
  })

  test('a transaction of a database without the store is refused', async () => {
    const { race, client } = await open('elsewhere')
    await client.query('begin; alter schema elsewhere rename to moved')
    const refused = { code: 'invalid_options', message: /database without this store/ }
    await assert.rejects(race.pool('work').put('a', { tx: client }), refused)
    await client.query('rollback')
    await client.end()
    await race.stop()
  })

  test('[U1] [U2] putAll in a transaction puts all with its commit, and none if it is rolled back', async () => {
    const { race, client } = await open('many')
    const pool = race.pool('work')
    race.work(pool, () => undefined)
    await race.start()
    for (const end of ['rollback', 'commit']) {
      await client.query('begin')
      const puts = [1, 2, 3].map((nth) => ({ key: `${end}-${nth}`, in: '1h' as const, payload: nth }))
      assert.deepEqual(await pool.putAll(puts, { tx: client }), { result: 'accepted' })
      await client.query(end)
    }
    const deadline = performance.now() + 10_000
    while (performance.now() < deadline && (await pool.list()).entries.length < 3) await race.clock.sleep(20)
    const { entries } = await pool.list()
    assert.deepEqual(entries.map(({ key }) => key).toSorted(), ['commit-1', 'commit-2', 'commit-3'])
    await client.end()
    await race.stop()
  })

  test('a put of many that is wrong, or has a transaction of its own, undoes all of them', async () => {
    const { race, client, rows } = await open('undone')
    await client.query('begin')
    const pool = race.pool('work')
    const own = { key: 'b', tx: client } as { key: string }
    await assert.rejects(pool.putAll([{ key: 'a' }, own], { tx: client }), {
      code: 'invalid_options',
      remedy: 'all puts share one transaction: putAll(puts, { tx })',
    })
    await assert.rejects(pool.putAll([{ key: 'a' }, { key: '' }], { tx: client }), { code: 'invalid_input' })
    await client.query('commit')
    assert.equal(await rows(), 0)
    await client.end()
    await race.stop()
  })
})
