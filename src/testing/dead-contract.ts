// What was given up: to run it again, and to remove it. Listing and retention are in deaths-contract.ts.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { type PoolDriver, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

/** Puts a key, and lets its run die; answers the number of the record. */
async function die(pool: PoolDriver, key: string, reason = 'no'): Promise<number> {
  await pool.put(key)
  return bury(pool, key, reason)
}

async function bury(pool: PoolDriver, key: string, reason = 'no'): Promise<number> {
  const run = (await pool.take()).find((taken) => taken.key === key)
  assert.ok(run !== undefined)
  await pool.settle(run, { kind: 'dead', reason, error: 'Error: no' })
  const [newest] = await pool.dead.list('work', { key, limit: 1 })
  assert.ok(newest !== undefined)
  return newest.id
}

export const deadCases: Case[] = [
  {
    title:
      '[Z8] a record says whether its entry is dead, runs again, or has recovered; and of which group it was',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { group: 'g' })
      const id = await bury(pool, 'a')
      await die(pool, 'b')
      await die(pool, 'c')
      const states = async (): Promise<string> =>
        (await pool.dead.list('work', { limit: 9 }))
          .map(({ key, group, state }) => `${key} ${group} ${state}`)
          .toSorted()
          .join(', ')
      assert.equal(await states(), 'a g dead, b b dead, c c dead')
      await store.pool.dead.redrive('work', [id])
      await pool.put('b')
      await store.pool.entries.cancel('work', { key: 'c' })
      assert.equal(await states(), 'a g retrying, b b retrying, c c recovered')
      for (const run of await pool.take()) await pool.settle(run, { kind: 'done' })
      assert.equal(await states(), 'a g recovered, b b recovered, c c recovered')
    },
  },
  {
    title: '[S10] a dead entry that is redriven is due now, with its payload, tally 0 and attempt 0',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const hints: number[] = []
      await pool.put('a', { payload: '7' })
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START })
      const id = await bury(pool, 'a', 'attempts')
      const { turn } = await pool.get('a')
      await clock.leap(50)
      const unwatch = store.watch((hint) => hint.kind === 'put' && hints.push(hint.dueAt))
      assert.equal(await store.pool.dead.redrive('work', [id]), 1)
      unwatch()
      assert.ok(hints.includes(START + 50))
      const run = await pool.takeOne()
      assert.deepEqual([run.dueAt, run.seen, run.payload, run.attempt], [START + 50, 0, '7', 0])
      assert.notEqual(run.turn, turn)
      assert.equal((await store.pool.browse.deaths('work', 9)).length, 1)
      assert.equal((await pool.get('a')).failing, true)
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'settled', nextDueAt: null })
    },
  },
  {
    title: '[S10] a put on an entry that was redriven joins it, and counts once',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await store.pool.dead.redrive('work', [await die(pool, 'a')])
      assert.deepEqual(await pool.put('a'), { result: 'merged', dueAt: START, tally: 1 })
      assert.equal((await pool.takeOne()).seen, 1)
    },
  },
  {
    title: '[S10] redrive counts those that were dead, and leaves alone what lives, and what is not there',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const ids = [await die(pool, 'a'), await die(pool, 'b'), await die(pool, 'c')]
      await pool.put('b', { at: START + 90 })
      await store.pool.entries.cancel('work', { key: 'c' })
      const before = await pool.get('b')
      assert.equal(await store.pool.dead.redrive('work', [...ids, 1_000_000]), 1)
      assert.equal(await store.pool.dead.redrive('work', ids), 0)
      assert.deepEqual(await pool.get('b'), before)
      assert.equal(await pool.find('c'), null)
    },
  },
  {
    title: '[S10] an entry that has died again is redriven by its last death only',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const [first, second] = [await die(pool, 'a', 'first'), await die(pool, 'a', 'second')]
      assert.equal(await store.pool.dead.redrive('work', [first]), 0)
      assert.equal((await pool.get('a')).state, 'dead')
      assert.equal(await store.pool.dead.redrive('work', [first, second]), 1)
    },
  },
  {
    title: '[S11] a dead entry goes with the last record of its deaths, and no other entry does',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const [first, second] = [await die(pool, 'a', 'first'), await die(pool, 'a', 'second')]
      await die(pool, 'b')
      assert.deepEqual(await store.pool.dead.remove('work', [second]), { deaths: 1, entries: 0 })
      assert.equal((await pool.get('a')).state, 'dead')
      assert.deepEqual(await store.pool.dead.remove('work', [first, second]), { deaths: 1, entries: 1 })
      assert.equal(await pool.find('a'), null)
      const deaths = await store.pool.browse.deaths('work', 9)
      assert.deepEqual(
        deaths.map(({ key }) => key),
        ['b'],
      )
      assert.deepEqual(await store.pool.dead.remove('work', [first]), { deaths: 0, entries: 0 })
      assert.equal((await pool.put('a')).result, 'created')
    },
  },
  {
    title:
      '[S11] records can be removed when their entry was redriven, put or cancelled; what lives is left alone',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const ids = [await die(pool, 'a'), await die(pool, 'b'), await die(pool, 'c')]
      await store.pool.dead.redrive('work', ids.slice(0, 1))
      await pool.put('b', { at: START + 90 })
      await store.pool.entries.cancel('work', { key: 'c' })
      const before = await pool.list()
      assert.deepEqual(await store.pool.dead.remove('work', ids), { deaths: 3, entries: 0 })
      assert.deepEqual(await pool.list(), before)
      assert.deepEqual(await pool.deaths(), [])
    },
  },
  {
    title: '[S11] in mode each the last record of a slot takes that slot along, and no other of its key',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      for (const at of [START - 2, START - 1]) await pool.put('a', { at })
      for (const run of await pool.take()) {
        await pool.settle(run, { kind: 'dead', reason: 'no', error: null })
      }
      const [newest] = await pool.dead.list('work', { key: 'a', limit: 1 })
      assert.ok(newest !== undefined)
      assert.deepEqual(await store.pool.dead.remove('work', [newest.id]), { deaths: 1, entries: 1 })
      assert.equal(await pool.find('a', newest.slot), null)
      assert.equal((await pool.list()).length, 1)
    },
  },
]
