// What a put does beyond the table: payloads, lanes, groups, slots, requests and their repeats.
import assert from 'node:assert/strict'
import { partitionOf } from '../partition.ts'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

/** 512 bytes of text that takes up to four bytes a character. */
const LONG_KEY = `${'é€𝄞'.repeat(56)}12345678`

const entryCases: Case[] = [
  {
    title: '[E1] a pool asked for with another mode or number of partitions is refused',
    run: async ({ store }) => {
      await openPool(store, { mode: 'one', partitions: 4 })
      await openPool(store, { mode: 'one', partitions: 4, rememberMs: 5 })
      await assert.rejects(openPool(store, { mode: 'each', partitions: 4 }), { code: 'pool_mismatch' })
      await assert.rejects(openPool(store, { mode: 'one', partitions: 5 }), { code: 'pool_mismatch' })
    },
  },
  {
    title: '[E2] two pools with the same keys do not mix',
    run: async ({ store }) => {
      const left = await openPool(store, { name: 'left' })
      const right = await openPool(store, { name: 'right' })
      await left.put('a', { payload: '1' })
      assert.equal((await right.put('a', { payload: '2', at: START + 9 })).result, 'created')
      assert.equal((await left.takeOne()).payload, '1')
      assert.deepEqual(await right.take(), [])
      assert.deepEqual(await left.cancel('a'), { cancelled: 0, due: 1 })
      assert.equal((await right.get('a')).next.payload, '2')
    },
  },
  {
    title: '[E3] the group decides the partition as Kafka does, and is the key unless given',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 32 })
      for (const key of ['21', 'foobar', 'é€𝄞']) await pool.put(key)
      await pool.put('x', { group: 'foobar' })
      for (const key of ['21', 'foobar', 'é€𝄞']) {
        assert.equal((await pool.get(key)).partition, partitionOf(key, 32))
      }
      const { partition, group } = await pool.get('x')
      assert.deepEqual([partition, group], [partitionOf('foobar', 32), 'foobar'])
    },
  },
  {
    title: '[E3] lane and group are those of the put that created the entry',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 32 })
      await pool.put('a', { at: START + 9, lane: 'bulk', group: 'g' })
      const { partition } = await pool.get('a')
      await pool.put('a', { at: START + 5, lane: 'fanout', group: 'h' })
      await pool.put('a', { at: START + 5, lane: 'fanout', group: 'h', onConflict: 'replace' })
      const entry = await pool.get('a')
      assert.deepEqual([entry.lane, entry.group, entry.partition], ['bulk', 'g', partition])
    },
  },
  {
    title: '[E4] keys of 512 bytes, of any script, and with odd names are kept apart and given back whole',
    run: async ({ store }) => {
      const pool = await openPool(store)
      assert.equal(Buffer.byteLength(LONG_KEY), 512)
      const keys = [
        LONG_KEY,
        `${LONG_KEY.slice(0, -1)}9`,
        '__proto__',
        'a',
        'A',
        'a ',
        '\u00e9',
        'e\u0301',
        "'; --",
      ]
      for (const key of keys) assert.equal((await pool.put(key, { payload: '0' })).result, 'created')
      const runs = await pool.take()
      assert.deepEqual(new Set(runs.map(({ key }) => key)), new Set(keys))
      assert.equal(runs.length, keys.length)
    },
  },
]

const putCases: Case[] = [
  {
    title: '[M1] a put without a time is due now, and its entry tells when it came',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await clock.leap(7)
      assert.deepEqual(await pool.put('a'), { result: 'created', dueAt: START + 7, tally: 1 })
      const entry = await pool.get('a')
      assert.deepEqual([entry.enqueuedAt, entry.putAt, entry.slot], [START + 7, START + 7, null])
    },
  },
  {
    title: '[M3] a put in the far past is due now, and its slot keeps the time it was given',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      assert.deepEqual(await pool.put('a', { at: -86_400_000 }), {
        result: 'created',
        dueAt: START,
        tally: 1,
      })
      const entry = await pool.get('a', -86_400_000)
      assert.deepEqual([entry.slot, entry.next.dueAt], [-86_400_000, START])
    },
  },
  {
    title: '[M3] a put in the year 9999 waits for it',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const at = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
      assert.equal((await pool.put('a', { at })).dueAt, at)
      await clock.leap(365 * 86_400_000)
      assert.deepEqual(await pool.take(), [])
      assert.equal((await pool.get('a')).next.dueAt, at)
    },
  },
  {
    title: '[M8] in mode each every distinct time of a key is an entry of its own',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      for (const at of [START + 1, START + 2, START + 3]) {
        assert.equal((await pool.put('a', { at, onConflict: 'replace' })).result, 'created')
      }
      await clock.leap(3)
      assert.deepEqual(
        (await pool.take()).map(({ slot }) => slot),
        [START + 1, START + 2, START + 3],
      )
    },
  },
  {
    title: '[M8] in mode each a slot that stands twice in a request is kept the second time',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      const at = START + 5
      const puts = [asPut('a', { at }), asPut('b', { at, lane: 'bulk' }), asPut('c', { at, group: 'g' })]
      const answers = await pool.putAll([...puts, ...puts])
      assert.deepEqual(
        answers.map(({ result }) => result),
        ['created', 'created', 'created', 'kept', 'kept', 'kept'],
      )
      assert.equal((await pool.list()).length, 3)
    },
  },
  {
    title: '[M8] in mode each a put without a time has the slot now',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a')
      assert.equal((await pool.put('a')).result, 'kept')
      assert.equal((await pool.get('a', START)).slot, START)
    },
  },
  {
    title: '[M9] a put without a payload leaves the waiting one, and JSON null is a payload',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const at = START + 9
      await pool.put('a', { at, payload: '1' })
      await pool.put('a', { at })
      assert.equal((await pool.get('a')).next.payload, '1')
      await pool.put('a', { at, payload: 'null' })
      assert.equal((await pool.get('a')).next.payload, 'null')
      await pool.put('a', { at, onConflict: 'replace' })
      assert.equal((await pool.get('a')).next.payload, null)
    },
  },
  {
    title: '[M9] a payload comes back as the same text, however odd',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const texts = ['{"a": 1,  "a":2}', '"\\u0000 é𝄞"', '1e400', '[]', `"${'x'.repeat(70_000)}"`]
      for (const [index, payload] of texts.entries()) await pool.put(`k${index}`, { payload })
      const runs = (await pool.take()).toSorted((a, b) => a.key.localeCompare(b.key))
      assert.deepEqual(
        runs.map(({ payload }) => payload),
        texts,
      )
    },
  },
  {
    title: '[V1] two puts that merge are one run, due at the lower of their times',
    run: async ({ store }) => {
      const pool = await openPool(store)
      assert.equal((await pool.put('a', { at: START + 1 })).dueAt, START + 1)
      assert.equal((await pool.put('a')).dueAt, START)
      const run = await pool.takeOne()
      assert.deepEqual([run.dueAt, run.seen], [START, 2])
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'settled', nextDueAt: null })
    },
  },
]

const manyCases: Case[] = [
  {
    title: '[R1] a key that stands twice in a request is put twice, in order',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const at = START + 50
      const answers = await pool.putAll([
        asPut('a', { at, payload: '1' }),
        asPut('b', { at }),
        asPut('a', { at: at - 1, payload: '2' }),
        asPut('a', { at: at + 1, payload: '3', onConflict: 'replace' }),
        asPut('a', { at, payload: '4', onConflict: 'keep' }),
      ])
      assert.deepEqual(answers, [
        { result: 'created', dueAt: at, tally: 1 },
        { result: 'created', dueAt: at, tally: 1 },
        { result: 'merged', dueAt: at - 1, tally: 2 },
        { result: 'replaced', dueAt: at + 1, tally: 1 },
        { result: 'kept', dueAt: at + 1, tally: 1 },
      ])
      assert.equal((await pool.get('a')).next.payload, '3')
    },
  },
  {
    title: '[R1] requests of one call are applied in order and answered one by one',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const requests = [[asPut('a'), asPut('b')], [], [asPut('b'), asPut('c')]]
      const responses = await pool.requests(requests.map((puts) => ({ puts, repeat: null })))
      const results = responses.map((response) =>
        response.kind === 'answered' ? response.answers.map(({ result }) => result) : response.kind,
      )
      assert.deepEqual(results, [['created', 'created'], [], ['merged', 'created']])
    },
  },
  {
    title: '[R1] concurrent calls lose no put',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const answers = await Promise.all(Array.from({ length: 100 }, () => pool.put('a', { at: START + 9 })))
      assert.deepEqual(
        answers.map(({ tally }) => tally).toSorted((a, b) => a - b),
        Array.from({ length: 100 }, (_, index) => index + 1),
      )
      assert.equal((await pool.get('a')).next.tally, 100)
    },
  },
  {
    title: '[R1] five thousand keys in one request are all there, once',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      const puts = Array.from({ length: 5000 }, (_, index) =>
        asPut(`k${index}`, { at: START + (index % 97) }),
      )
      const answers = await pool.putAll(puts)
      assert.ok(answers.every(({ result }) => result === 'created'))
      const entries = await pool.list()
      assert.equal(new Set(entries.map(({ key }) => key)).size, 5000)
      assert.equal(new Set(entries.map(({ turn, partition }) => `${partition}/${turn}`)).size, 5000)
    },
  },
]

export const plainPutCases: Case[] = [...entryCases, ...putCases, ...manyCases]
