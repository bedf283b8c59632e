// A PostgreSQL store goes back: what was known before harms nothing that is written afterwards.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client } from 'pg'
import { systemClock } from '../../src/clock.ts'
import { noFaults } from '../../src/fault.ts'
import { poolResource } from '../../src/fence.ts'
import type { Store } from '../../src/store.ts'
import { openStore } from '../../src/stores/open.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { startPostgres } from '../servers/postgres.ts'

const server = await startPostgres(15, { fsync: false, settings: { synchronous_commit: 'on' } })
const TAKE = { partitions: null, lane: 'normal', from: 0, limit: 1 } as const
const CLAIM = { owner: 'me', held: [{ partition: 0, epoch: 1 }] }

function open(schema: string): Promise<Store> {
  const telemetry = createTelemetry('test')
  return openStore(server?.url({ schema }) ?? '', { clock: systemClock, telemetry, faults: noFaults })
}

async function openPools(store: Store, ...names: string[]): Promise<void> {
  for (const name of names) await store.pool.entries.open({ name, mode: 'one', partitions: 1, rememberMs: 0 })
}

const put = (store: Store, pool: string, key: string): Promise<unknown> =>
  store.pool.entries.put(pool, [
    {
      puts: [{ key, group: key, onConflict: 'earliest', at: null, payload: undefined, lane: null }],
      repeat: null,
    },
  ])

/** Once more if the first call only finds that the store went back. */
async function twice<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  return call().catch((error: unknown) => {
    assert.equal((error as { code?: string }).code, 'store_went_back')
    return call()
  })
}

const generationOf = async (store: Store): Promise<string> =>
  (await store.pulse({ beat: null, pools: [] })).generation

void describe('a store that goes back', { skip: server === null }, () => {
  after(() => server?.remove())

  test('[Y21] a restart of the server is another life of the same generation, and no number is given again', async () => {
    const store = await open('restarted')
    await openPools(store, 'x')
    await store.fences.raise(poolResource('x'), CLAIM)
    await put(store, 'x', 'a')
    const [run] = (await store.pool.entries.take('x', TAKE)).runs
    const lock = await store.locks.acquire({ name: 'l', holder: 'me', ttlMs: 600_000 })
    const generation = await generationOf(store)
    await server?.stop()
    await server?.start()
    assert.equal(await generationOf(store), generation)
    assert.ok(run !== undefined && lock !== null)
    const { key, slot, turn, seen } = run
    const settlement = { key, slot, turn, seen, outcome: { kind: 'done' } as const }
    const [settled] = await store.pool.entries.settle('x', [settlement], CLAIM)
    assert.equal(settled?.result, 'settled')
    assert.equal((await store.locks.acquire({ name: 'l', holder: 'me', ttlMs: 1000 }))?.token, lock.token)
    const other = await store.locks.acquire({ name: 'm', holder: 'me', ttlMs: 1000 })
    assert.ok((other?.token ?? 0) > lock.token)
    await put(store, 'x', 'b')
    const [next] = (await store.pool.entries.take('x', TAKE)).runs
    assert.ok((next?.turn ?? 0) > turn + 1_000_000)
    await store.close()
  })

  test('[Y21] of many that meet a restart at once one begins the life, and none another generation', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open('crowded')))
    const generations = await Promise.all(stores.map(generationOf))
    await server?.stop()
    await server?.start()
    const later = await Promise.all(stores.map(generationOf))
    assert.deepEqual(new Set(later), new Set(generations))
    assert.equal(new Set(later).size, 1)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('[G6] [Y21] a run of before does not settle what was put afterwards under the same turn and tally', async () => {
    const store = await open('settled')
    await openPools(store, 'x')
    await store.fences.raise(poolResource('x'), CLAIM)
    await put(store, 'x', 'a')
    const dumped = server?.dump('settled') ?? ''
    const generation = await generationOf(store)
    await put(store, 'x', 'a')
    const [run] = (await store.pool.entries.take('x', TAKE)).runs
    assert.equal(run?.seen, 2)
    await server?.restore('settled', dumped)
    await twice(() => put(store, 'x', 'a'))
    assert.notEqual(await generationOf(store), generation)
    const { key, slot, turn, seen, place = '' } = run
    for (const placed of [{ place }, {}]) {
      const settlement = { key, slot, turn, seen, outcome: { kind: 'done' } as const, ...placed }
      const [answer] = await store.pool.entries.settle('x', [settlement], CLAIM)
      assert.notEqual(answer?.result, 'settled')
    }
    assert.equal((await store.pool.browse.get('x', { key: 'a', slot: null }))?.next.tally, 2)
    await store.close()
  })

  test('[Y22] a member that is not in the store any more has another generation begin', async () => {
    const store = await open('beaten')
    const dumped = server?.dump('beaten') ?? ''
    const about = {
      name: 'm',
      address: null,
      version: '1',
      weight: 1,
      concurrency: 1,
      serves: [],
      leads: true,
    }
    await store.roster.join({ id: 'm', leaseMs: 3000, ...about }, [])
    const beat = { member: 'm', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] }
    const first = await store.pulse({ beat, pools: [] })
    await server?.restore('beaten', dumped)
    const second = await store.pulse({ beat, pools: [] })
    assert.deepEqual(second.beaten, { known: false })
    assert.notEqual(second.generation, first.generation)
    await store.close()
  })

  test('[Y22] numbers of pools and topics are read again, and nothing lands in another', async () => {
    const other = await open('numbers')
    await openPools(other, 'y')
    await other.log.open({ name: 'ty', partitions: 1, retentionMs: null })
    const dumped = server?.dump('numbers') ?? ''
    await other.close()
    await server?.run('drop schema numbers cascade')
    const store = await open('numbers')
    await openPools(store, 'x', 'y')
    await store.log.open({ name: 'tx', partitions: 1, retentionMs: null })
    await put(store, 'x', 'before')
    await server?.restore('numbers', dumped)
    const client = new Client({ connectionString: server?.url() })
    await client.connect()
    await client.query('BEGIN')
    const event = { id: 'e', key: 'k', partition: 0, value: '1', headers: null }
    const appended = store.arrivals?.append(client, 'tx', [event])
    await assert.rejects(appended ?? Promise.resolve(), { code: 'store_went_back' })
    await client.end()
    await put(store, 'x', 'after')
    await store.log.append('tx', [event])
    const rows = await server?.run(
      `select p.name, e.key from numbers.entry e join numbers.pool p on p.id = e.pool union all
      select t.name, e.key from numbers.event e join numbers.topic t on t.id = e.topic`,
    )
    assert.deepEqual(rows, [
      { name: 'x', key: 'after' },
      { name: 'tx', key: 'k' },
    ])
    await store.close()
  })
})
