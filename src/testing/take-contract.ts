// Take: a read of what is due.
import assert from 'node:assert/strict'
import { partitionOf } from '../partition.ts'
import type { TakenRun } from '../pool/entry.ts'
import type { TakeRequest } from '../pool/store.ts'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const groupOf = (key: string): string => (key === 'NULL' ? 'a group "of" its own' : key)
const keysOf = (runs: { key: string }[]): string[] => runs.map(({ key }) => key).toSorted()

export const takeCases: Case[] = [
  {
    title: '[P2] a take a millisecond before the dueAt answers nothing, and at the dueAt the run',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { at: START + 1000, group: 'g' })
      await clock.leap(10)
      await pool.put('a', { at: START + 1000, payload: '7', group: 'g' })
      await clock.leap(989)
      assert.deepEqual(await pool.take(), [])
      await clock.leap(1)
      const { turn, partition } = await pool.get('a')
      const times = { dueAt: START + 1000, putAt: START + 10 }
      const counts = { attempt: 0, crashes: 0 }
      assert.deepEqual(await pool.take(), [
        { key: 'a', slot: null, group: 'g', partition, turn, seen: 2, payload: '7', ...counts, ...times },
      ])
    },
  },
  {
    title: '[P2] a run that backs off is not taken before its back-off ends',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 50 })
      await pool.put('a')
      await clock.leap(49)
      assert.deepEqual(await pool.take(), [])
      await clock.leap(1)
      const run = await pool.takeOne()
      assert.deepEqual([run.attempt, run.seen, run.dueAt], [1, 2, START + 50])
    },
  },
  {
    title: '[D1] a take writes nothing: the same runs are answered again until they are settled',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.putAll([asPut('a'), asPut('b')])
      const before = await pool.list()
      const first = await pool.take()
      assert.equal(first.length, 2)
      assert.deepEqual(await pool.take(), first)
      assert.deepEqual(await pool.list(), before)
    },
  },
  {
    title: '[D1] a take tells the time of the store at its read',
    run: async ({ store, clock }) => {
      await openPool(store)
      await clock.leap(123)
      const request = { partitions: null, lane: 'normal', from: 0, limit: 1 } as const
      assert.deepEqual(await store.pool.entries.take('work', request), {
        now: START + 123,
        runs: [],
        nextDueAt: null,
      })
    },
  },
  {
    title: '[D2] a take answers at most its limit, the earliest first',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { partitions: 1 })
      for (const at of [30, 10, 20, 40]) await pool.put(`k${at}`, { at: START + at })
      await clock.leap(35)
      const order = (runs: { key: string }[]): string[] => runs.map(({ key }) => key)
      assert.deepEqual(order(await pool.take({ limit: 2 })), ['k10', 'k20'])
      assert.deepEqual(order(await pool.take({ limit: 9 })), ['k10', 'k20', 'k30'])
      assert.deepEqual(await pool.take({ limit: 0 }), [])
    },
  },
  {
    title: '[D2] runs come in due order within each partition',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { partitions: 4 })
      const puts = Array.from({ length: 400 }, (_, index) => {
        return asPut(`k${index}`, { at: START + ((index * 37) % 101) })
      })
      await pool.putAll(puts)
      await clock.leap(200)
      const runs = await pool.take()
      assert.equal(runs.length, 400)
      for (const partition of [0, 1, 2, 3]) {
        const dueAts = runs.filter((run) => run.partition === partition).map(({ dueAt }) => dueAt)
        assert.ok(dueAts.length > 0)
        assert.deepEqual(
          dueAts,
          dueAts.toSorted((a, b) => a - b),
        )
      }
    },
  },
  {
    title: '[D3] a take answers runs of its lane only',
    run: async ({ store }) => {
      const pool = await openPool(store)
      for (const lane of ['fanout', 'normal', 'bulk'] as const) await pool.put(lane, { lane })
      for (const lane of ['fanout', 'normal', 'bulk'] as const) {
        assert.deepEqual(keysOf(await pool.take({ lane })), [lane])
      }
    },
  },
  {
    title: '[D3] a take answers runs of its partitions only',
    run: async ({ store }) => {
      const pool = await openPool(store, { partitions: 4 })
      await pool.putAll(Array.from({ length: 100 }, (_, index) => asPut(`k${index}`)))
      const all = await pool.take()
      const wanted = all.filter(({ partition }) => partition === 1 || partition === 3)
      assert.ok(wanted.length > 0 && wanted.length < 100)
      assert.deepEqual(keysOf(await pool.take({ partitions: [1, 3] })), keysOf(wanted))
      assert.deepEqual(await pool.take({ partitions: [] }), [])
    },
  },
  {
    title: '[D3] a take looks at nothing that was due before its `from`',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      for (const at of [10, 20, 30]) await pool.put(`k${at}`, { at: START + at })
      await clock.leap(30)
      assert.deepEqual(keysOf(await pool.take({ from: START + 20 })), ['k20', 'k30'])
      assert.deepEqual(keysOf(await pool.take({ from: START + 21 })), ['k30'])
    },
  },
  ...(['one', 'each'] as const).map((mode): Case => {
    return {
      title: `[D5] in mode ${mode} a take tells when the next run of its lane and partitions is due, unless its limit is met`,
      run: async ({ store, clock }) => {
        const pool = await openPool(store, { mode, partitions: 2 })
        const [here, there] = ['a', 'd'].map((key) => partitionOf(key, 2)) as [number, number]
        assert.notEqual(here, there)
        for (const at of [10, 40, 60]) await pool.put('a', { at: START + at, onConflict: 'keep' })
        await pool.put('d', { at: START + 30 })
        await pool.put('c', { at: START + 20, lane: 'bulk', group: 'a' })
        const nextOf = async (request: Partial<TakeRequest>): Promise<number | null> => {
          const asked = { partitions: null, lane: 'normal', from: 0, limit: 9, ...request } as const
          const { nextDueAt } = await store.pool.entries.take('work', asked)
          return nextDueAt === null ? null : nextDueAt - START
        }
        assert.deepEqual([await nextOf({}), await nextOf({ lane: 'bulk' })], [10, 20])
        assert.deepEqual(
          [await nextOf({ partitions: [there] }), await nextOf({ lane: 'fanout' })],
          [30, null],
        )
        await clock.leap(10)
        const later = mode === 'each' ? 40 : null
        assert.deepEqual([await nextOf({}), await nextOf({ partitions: [here] })], [30, later])
        assert.equal(await nextOf({ limit: 1 }), null)
      },
    }
  }),
  {
    title: '[D1] [M9] a take tells of each run what is its own, whatever its neighbours are',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { partitions: 1 })
      const keys = ['plain', 'ctrl \u001f\n', '"quoted" \\, {NULL}', 'NULL', '😀 naïve', 'failed', 'marked']
      const payloads = new Map(keys.map((key, nth) => [key, nth % 2 === 0 ? JSON.stringify(key) : undefined]))
      await pool.putAll(keys.map((key) => asPut(key, { payload: payloads.get(key), group: groupOf(key) })))
      const first = await pool.take()
      const known = (key: string): TakenRun => first.find((run) => run.key === key) as TakenRun
      await pool.settle(known('failed'), { kind: 'retry', dueAt: START })
      await pool.mark(known('marked'), 2)
      await clock.leap(1)
      const read = async (): Promise<unknown[]> =>
        (await pool.take()).map(({ key, slot, group, payload, attempt, crashes, seen, putAt }) => {
          return [key, slot, group, payload, attempt, crashes, seen, putAt]
        })
      const wanted = keys.toSorted().map((key) => {
        const failures = [Number(key === 'failed'), key === 'marked' ? 2 : 0]
        return [key, null, groupOf(key), payloads.get(key) ?? null, ...failures, 1, START]
      })
      const byKey = (a: unknown, b: unknown): number => ((a as [string])[0] < (b as [string])[0] ? -1 : 1)
      assert.deepEqual((await read()).toSorted(byKey), wanted.toSorted(byKey))
      // So long that no store would put it beside others.
      await pool.put('long', { payload: JSON.stringify('x'.repeat(100_000)) })
      const runs = await pool.take()
      assert.equal(runs.length, keys.length + 1)
      assert.equal(runs.find(({ key }) => key === 'long')?.payload?.length, 100_002)
      assert.equal(runs.find(({ key }) => key === 'plain')?.payload, '"plain"')
      assert.equal(runs.find(({ key }) => key === 'marked')?.crashes, 2)
    },
  },
  {
    title: '[D4] the pulse tells when the next run of each pool is due',
    run: async ({ store, clock }) => {
      const left = await openPool(store, { name: 'left' })
      await openPool(store, { name: 'right' })
      await left.put('a', { at: START + 20 })
      await left.put('b', { at: START + 10 })
      await clock.leap(15)
      const partitions = [0, 1, 2, 3]
      const asked = { beat: null, pools: ['left', 'right'].map((pool) => ({ pool, partitions })) }
      const { now, nextDueAt, beaten } = await store.pulse(asked)
      assert.deepEqual([now, beaten], [START + 15, null])
      assert.deepEqual([nextDueAt.get('left'), nextDueAt.get('right')], [START + 10, null])
      await left.settle(await left.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
      assert.equal((await store.pulse(asked)).nextDueAt.get('left'), START + 20)
    },
  },
  {
    title: '[D4] the pulse leaves out nothing that is due from the time that it is asked for',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { partitions: 2 })
      const next = async (from: number): Promise<number | null | undefined> => {
        const asked = { pool: 'work', partitions: [0, 1], from: START + from }
        return (await store.pulse({ beat: null, pools: [asked] })).nextDueAt.get('work')
      }
      for (const at of [10, 40]) await pool.put(`k${at}`, { at: START + at })
      assert.equal(await next(10), START + 10)
      await clock.leap(30)
      // What is due before may be told of: it is so where that costs nothing.
      const told = await next(20)
      assert.ok(told === START + 10 || told === START + 40, `${told}`)
      await pool.cancel('k10')
      assert.equal(await next(40), START + 40)
    },
  },
  {
    title: '[D4] a put tells the watchers when it is due, until they stop watching',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const heard: number[] = []
      const stop = store.watch((hint) => {
        if (hint.kind === 'put' && hint.pool === 'work') heard.push(hint.dueAt)
      })
      await pool.put('a', { at: START + 10 })
      assert.ok(heard.includes(START + 10))
      stop()
      await pool.put('b', { at: START + 5 })
      assert.ok(!heard.includes(START + 5))
    },
  },
]
