// The records of deaths: their order and pages, and for how long they are kept.
import assert from 'node:assert/strict'
import type { DeathQuery } from '../pool/store.ts'
import type { Case } from './contract.ts'
import { type PoolDriver, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const DAY = 24 * 3_600_000

async function die(pool: PoolDriver, key: string, reason = 'no'): Promise<void> {
  await pool.put(key, { payload: `"${key}"` })
  const run = (await pool.take()).find((taken) => taken.key === key)
  assert.ok(run !== undefined)
  await pool.settle(run, { kind: 'dead', reason, error: `Error: ${reason}` })
}

async function keysOf(pool: PoolDriver, query: Partial<DeathQuery> = {}): Promise<string[]> {
  const records = await pool.dead.list(pool.settings.name, { limit: 100, ...query })
  return records.map(({ key }) => key)
}

export const deathsCases: Case[] = [
  {
    title: '[Z1] records are listed the newest first, whole but for their payloads, and pages meet each once',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      for (const key of ['a', 'b', 'c']) await die(pool, key, key)
      await clock.leap(10)
      await die(pool, 'a', 'again')
      assert.deepEqual(await keysOf(pool), ['a', 'c', 'b', 'a'])
      const met: string[] = []
      let after: DeathQuery['after']
      for (let page = 0; page < 4; page += 1) {
        const [record] = await pool.dead.list('work', { limit: 1, ...(after === undefined ? {} : { after }) })
        assert.ok(record !== undefined)
        met.push(record.reason)
        after = { diedAt: record.diedAt, id: record.id }
      }
      assert.deepEqual(met, ['again', 'c', 'b', 'a'])
      const [first] = await pool.dead.list('work', { limit: 1 })
      const { id, ...record } = first ?? { id: 0 }
      const died = { reason: 'again', error: 'Error: again', diedAt: START + 10 }
      assert.deepEqual(record, { key: 'a', slot: null, group: 'a', state: 'dead', seen: 1, ...died })
      assert.deepEqual(await pool.dead.payloads('work', [id, 1_000_000]), new Map([[id, { payload: '"a"' }]]))
    },
  },
  {
    title: '[Z1] a listing can be narrowed to a key and a window of times, of its pool only',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const other = await openPool(store, { name: 'other' })
      for (const key of ['a', 'b', 'a']) {
        await die(pool, key)
        await clock.leap(10)
      }
      await die(other, 'a')
      assert.deepEqual(await keysOf(pool, { key: 'a' }), ['a', 'a'])
      assert.deepEqual(await keysOf(pool, { key: 'a', from: START + 1 }), ['a'])
      assert.deepEqual(await keysOf(pool, { from: START + 10, before: START + 20 }), ['b'])
      assert.deepEqual(await keysOf(pool, { before: START }), [])
      assert.deepEqual(await keysOf(other), ['a'])
      const [middle] = await pool.dead.list('work', { limit: 1, before: START + 20 })
      assert.ok(middle !== undefined)
      assert.deepEqual(await keysOf(pool, { key: 'a', after: middle }), ['a'])
    },
  },
  {
    title: '[Z4] records are kept for as long as their pool says, and dead entries go with them',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const short = await openPool(store, { name: 'short', deadForMs: DAY })
      for (const driver of [pool, short]) await die(driver, 'a')
      await clock.leap(DAY - 1)
      assert.deepEqual(await store.pool.dead.purge(10), [])
      await die(short, 'b')
      await clock.leap(1)
      assert.deepEqual(await store.pool.dead.purge(10), [{ pool: 'short', deaths: 1 }])
      assert.deepEqual([await keysOf(short), await short.find('a')], [['b'], null])
      assert.deepEqual(await keysOf(pool), ['a'])
      await clock.leap(29 * DAY)
      const purged = [...(await store.pool.dead.purge(1)), ...(await store.pool.dead.purge(1))]
      assert.deepEqual(purged.map((of) => `${of.pool} ${of.deaths}`).toSorted(), ['short 1', 'work 1'])
      assert.deepEqual([await pool.list(), await short.list()], [[], []])
    },
  },
  {
    title: '[Z4] the oldest go first, and an entry that lives stays when the record of its death goes',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { deadForMs: DAY })
      for (const key of ['a', 'b', 'c']) {
        await die(pool, key)
        await clock.leap(10)
      }
      await pool.put('a')
      await clock.leap(DAY)
      assert.deepEqual(await store.pool.dead.purge(2), [{ pool: 'work', deaths: 2 }])
      assert.deepEqual(await keysOf(pool), ['c'])
      assert.deepEqual([(await pool.get('a')).state, await pool.find('b')], ['live', null])
    },
  },
  {
    title: '[Z4] [Z7] an opening that names no time leaves it, one that does changes it, and the store tells',
    run: async ({ store }) => {
      const settings = { name: 'work', mode: 'each' as const, partitions: 4, rememberMs: 5 }
      await store.pool.entries.open(settings)
      const plain = { fansOut: false, throttleMs: 0, payloads: 'latest' as const }
      const stored = { ...settings, deadForMs: 30 * DAY, ...plain }
      assert.deepEqual(await store.pool.browse.pools(), [stored])
      await store.pool.entries.open({ ...settings, deadForMs: DAY })
      await store.pool.entries.open({ ...settings, rememberMs: null, deadForMs: null })
      const told = { fansOut: true, throttleMs: 7, payloads: 'all' as const }
      await store.pool.entries.open({ name: 'a', mode: 'one', partitions: 1, rememberMs: null, ...told })
      assert.deepEqual(await store.pool.browse.pools(), [
        { name: 'a', mode: 'one', partitions: 1, rememberMs: 0, deadForMs: 30 * DAY, ...told },
        { ...stored, deadForMs: DAY },
      ])
      assert.deepEqual(await store.pool.browse.pool('work'), { ...stored, deadForMs: DAY })
      assert.equal(await store.pool.browse.pool('wor'), null)
    },
  },
]
