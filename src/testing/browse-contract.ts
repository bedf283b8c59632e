// Get, list and count.
import assert from 'node:assert/strict'
import type { Entry } from '../pool/entry.ts'
import { cursorOf } from '../pool/order.ts'
import type { EntryQuery } from '../pool/store.ts'
import type { Case } from './contract.ts'
import { type PoolDriver, asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const keysOf = (entries: Entry[]): string[] => entries.map(({ key }) => key)

/** One entry of each state, by key; the time is START + 10 afterwards. */
async function openMixed({ store, clock }: Parameters<Case['run']>[0]): Promise<PoolDriver> {
  const pool = await openPool(store)
  await pool.put('dead')
  await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
  await pool.put('backing-off')
  await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 100 })
  await pool.put('waiting', { at: START + 50 })
  await pool.put('due', { at: START + 10 })
  await clock.leap(10)
  return pool
}

async function pagesOf(pool: PoolDriver, query: EntryQuery): Promise<Entry[][]> {
  const pages: Entry[][] = []
  for (let after: EntryQuery['after']; ;) {
    const page = await pool.list(after === undefined ? query : { ...query, after })
    const last = page.at(-1)
    if (last === undefined) return pages
    pages.push(page)
    after = cursorOf(last)
  }
}

/** Entries of some keys and groups, one of them young, one that failed and one that is dead. */
async function openNamed({ store }: Parameters<Case['run']>[0]): Promise<PoolDriver> {
  const pool = await openPool(store)
  await pool.put('ann/dead', { group: 'ann' })
  await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
  await pool.put('ann/failed', { group: 'ann' })
  await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 5 })
  await pool.put('ann/2', { at: START + 20, group: 'ann', lane: 'bulk' })
  await pool.put('bob/1', { at: START + 10, group: 'ann' })
  await pool.put('ann', { at: START + 30 })
  await pool.put('ann\u{10ffff}', { at: START + 40 })
  await pool.put('anna', { at: START + 50 })
  return pool
}

export const browseCases: Case[] = [
  {
    title:
      '[B5] a listing can be narrowed to keys that begin with a text, and to a group, in pages and by state',
    run: async (opened) => {
      const pool = await openNamed(opened)
      const all = async (query: Omit<EntryQuery, 'limit'>): Promise<string> =>
        (await pagesOf(pool, { ...query, limit: 1 })).flatMap(keysOf).join(' ')
      assert.equal(await all({ group: 'ann' }), 'ann/dead ann/failed bob/1 ann/2 ann')
      assert.equal(await all({ prefix: 'ann/' }), 'ann/dead ann/failed ann/2')
      assert.equal(await all({ prefix: 'ann\u{10ffff}' }), 'ann\u{10ffff}')
      assert.equal(await all({ prefix: 'anna', key: 'ann' }), '')
      assert.equal(await all({ prefix: 'ann', dueFrom: START + 20 }), 'ann/2 ann ann\u{10ffff} anna')
      assert.equal(await all({ prefix: 'bob', group: 'ann' }), 'bob/1')
      assert.equal(await all({ group: 'ann', state: 'waiting' }), 'bob/1 ann/2 ann')
      assert.equal(await all({ group: 'ann', state: 'dead' }), 'ann/dead')
      assert.equal(await all({ group: 'ann', state: 'backing-off' }), 'ann/failed')
      assert.equal(await all({ group: 'nobody' }), '')
    },
  },
  {
    title:
      '[B5] young entries of mode each are found by the beginning of their key, however many others there are',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      const puts = Array.from({ length: 2500 }, (_, nth) => asPut(`k${nth}`, { at: START + 10 + nth }))
      await store.pool.entries.put('work', [{ puts, repeat: null }])
      const found = await pool.list({ prefix: 'k249', limit: 100 })
      assert.equal(
        keysOf(found).join(' '),
        'k249 k2490 k2491 k2492 k2493 k2494 k2495 k2496 k2497 k2498 k2499',
      )
      assert.equal(keysOf(await pool.list({ group: 'k7', limit: 100 })).join(' '), 'k7')
    },
  },
  {
    title: '[B1] get answers one entry whole, or null',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each', partitions: 1 })
      await pool.put('a', { at: START + 5, payload: '1', lane: 'bulk', group: 'g' })
      const { turn, ...entry } = await pool.get('a', START + 5)
      assert.deepEqual(entry, {
        key: 'a',
        slot: START + 5,
        group: 'g',
        partition: 0,
        lane: 'bulk',
        next: { dueAt: START + 5, tally: 1, payload: '1' },
        after: null,
        attempt: 0,
        crashes: 0,
        state: 'live',
        failing: false,
        lastError: null,
        enqueuedAt: START,
        putAt: START,
      })
      assert.ok(Number.isSafeInteger(turn))
      assert.equal(await pool.find('a', START + 6), null)
      assert.equal(await pool.find('b', START + 5), null)
    },
  },
  {
    title: '[B2] a listing is in order of dueAt, then key by its bytes, then slot',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      await clock.leap(10)
      // Three slots in the past share the dueAt `now`; '～' sorts before '𝄞' in bytes, not in UTF-16 units.
      for (const at of [3, 1, 2]) await pool.put('b', { at: START + at })
      for (const key of ['𝄞', '～', 'a', 'Z']) await pool.put(key, { at: START + 10 })
      await pool.put('0', { at: START + 11 })
      const order = (await pool.list()).map(({ key, slot }) => `${key}${(slot ?? 0) - START}`)
      assert.deepEqual(order, ['Z10', 'a10', 'b1', 'b2', 'b3', '～10', '𝄞10', '011'])
    },
  },
  {
    title: '[B2] pages over ties meet every entry once, in order',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      const puts = Array.from({ length: 60 }, (_, index) => {
        return asPut(`k${index % 10}`, { at: START + 1 + (index % 6) })
      })
      for (const key of ['k0', 'k1', 'k2'])
        puts.push(asPut(key, { at: START - 1 }), asPut(key, { at: START }))
      await pool.putAll(puts)
      const all = await pool.list()
      for (const limit of [1, 7, all.length]) {
        const pages = await pagesOf(pool, { limit })
        assert.ok(pages.every((page) => page.length <= limit))
        assert.deepEqual(pages.flat(), all)
      }
    },
  },
  {
    title: '[B3] a listing can be narrowed to a key, and to a window of due times',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      for (const key of ['a', 'b']) for (const at of [1, 2, 3]) await pool.put(key, { at: START + at })
      const slots = async (query: Partial<EntryQuery>): Promise<string[]> =>
        (await pool.list(query)).map(({ key, slot }) => `${key}${(slot ?? 0) - START}`)
      assert.deepEqual(await slots({ key: 'b' }), ['b1', 'b2', 'b3'])
      assert.deepEqual(await slots({ key: 'c' }), [])
      assert.deepEqual(await slots({ dueFrom: START + 2 }), ['a2', 'b2', 'a3', 'b3'])
      assert.deepEqual(await slots({ dueBefore: START + 2 }), ['a1', 'b1'])
      assert.deepEqual(await slots({ key: 'a', dueFrom: START + 2, dueBefore: START + 3 }), ['a2'])
      assert.deepEqual(await slots({ dueFrom: START + 2, limit: 1, key: 'b' }), ['b2'])
    },
  },
  {
    title: '[B3] a listing can be narrowed to a state',
    run: async (subject) => {
      const pool = await openMixed(subject)
      for (const state of ['waiting', 'due', 'backing-off', 'dead'] as const) {
        assert.deepEqual(keysOf(await pool.list({ state })), [state])
      }
    },
  },
  {
    title: '[B3] pages narrowed by key, window and state meet every match once',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      const puts = Array.from({ length: 40 }, (_, index) => {
        return asPut(index % 3 === 0 ? 'a' : 'b', { at: START + index })
      })
      await pool.putAll(puts)
      await clock.leap(20)
      const query = { key: 'b', dueFrom: START + 3, dueBefore: START + 35, state: 'waiting' } as const
      const all = await pool.list(query)
      assert.equal(all.length, 9)
      assert.deepEqual((await pagesOf(pool, { ...query, limit: 4 })).flat(), all)
    },
  },
  {
    title: '[B4] count tells how many entries are in each state now',
    run: async (subject) => {
      const pool = await openMixed(subject)
      assert.deepEqual(await pool.count(), { waiting: 1, due: 1, 'backing-off': 1, dead: 1 })
      await subject.clock.leap(90)
      assert.deepEqual(await pool.count(), { waiting: 0, due: 3, 'backing-off': 0, dead: 1 })
    },
  },
  {
    title: '[B4] the listing tells the time of the store',
    run: async ({ store, clock }) => {
      await openPool(store)
      await clock.leap(42)
      assert.deepEqual(await store.pool.browse.list('work', { limit: 9 }), { now: START + 42, entries: [] })
    },
  },
]
