// Settle after failure: back-off, and death at the last attempt.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const DEAD = { kind: 'dead', reason: 'attempts', error: 'it broke' } as const

const retryCases: Case[] = [
  {
    title: '[S5] failure touches only next: tally, payload and the run after it stay',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      const run = await pool.takeOne()
      await pool.put('a', { payload: '2' })
      await pool.put('a', { at: START + 500, payload: '3' })
      const answer = await pool.settle(run, { kind: 'retry', dueAt: START + 100 })
      assert.deepEqual(answer, { result: 'settled', nextDueAt: START + 100 })
      const entry = await pool.get('a')
      assert.deepEqual(entry.next, { dueAt: START + 100, tally: 2, payload: '2' })
      assert.deepEqual(entry.after, { dueAt: START + 500, tally: 1, payload: '3' })
      assert.deepEqual([entry.attempt, entry.turn === run.turn], [1, false])
    },
  },
  {
    title: '[S5] attempts add up, and a run that is done begins at 0 again',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      for (const attempt of [0, 1, 2]) {
        const run = await pool.takeOne()
        assert.equal(run.attempt, attempt)
        await pool.settle(run, { kind: 'retry', dueAt: clock.now() + 10 })
        await clock.leap(10)
      }
      await pool.settle(await pool.takeOne(), { kind: 'again', dueAt: clock.now() + 10 })
      await clock.leap(10)
      assert.equal((await pool.takeOne()).attempt, 0)
    },
  },
  {
    title: '[S5] a put while it backs off keeps the back-off',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 100 })
      assert.deepEqual(await pool.put('a'), { result: 'merged', dueAt: START + 100, tally: 2 })
      assert.deepEqual(await pool.take(), [])
    },
  },
]

const lastErrorCases: Case[] = [
  {
    title: '[S12] the error of the last attempt stays with the entry until a run of it is done',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      assert.equal((await pool.get('a')).lastError, null)
      for (const error of ['first', 'second\n  at b', null, 'last']) {
        await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: clock.now() + 10, error })
        assert.equal((await pool.get('a')).lastError, error)
        await clock.leap(10)
      }
      await pool.put('a')
      assert.equal((await pool.list())[0]?.lastError, 'last')
      await pool.settle(await pool.takeOne(), { kind: 'again', dueAt: clock.now() + 10 })
      assert.equal((await pool.get('a')).lastError, null)
    },
  },
  {
    title: '[S12] what goes on after a death, or is dead, keeps its error until it is done, or put when dead',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a')
      await pool.settle(run, DEAD)
      assert.equal((await pool.get('a')).lastError, 'it broke')
      await pool.settle(await pool.takeOne(), { ...DEAD, error: 'once more' })
      assert.equal((await pool.get('a')).lastError, 'once more')
      await pool.put('a')
      assert.equal((await pool.get('a')).lastError, null)
    },
  },
  {
    title: '[S7] the attempt of a dead entry counts every attempt that failed, the last one too',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      for (const attempt of [1, 2]) {
        await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START })
        assert.equal((await pool.get('a')).attempt, attempt)
      }
      await pool.settle(await pool.takeOne(), DEAD)
      assert.equal((await pool.get('a')).attempt, 3)
      await pool.put('b')
      await pool.settle(await pool.takeOne(), DEAD)
      assert.equal((await pool.get('b')).attempt, 1)
    },
  },
]

const deathCases: Case[] = [
  {
    title: '[S6] what was put since the take goes on now when the seen tally dies',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      const run = await pool.takeOne()
      await pool.put('a', { payload: '2' })
      await clock.leap(5)
      assert.deepEqual(await pool.settle(run, DEAD), { result: 'settled', nextDueAt: START + 5 })
      const entry = await pool.get('a')
      assert.deepEqual(entry.next, { dueAt: START + 5, tally: 1, payload: '2' })
      assert.deepEqual([entry.state, entry.attempt, entry.failing], ['live', 0, true])
      const [death] = await pool.deaths()
      assert.deepEqual([death?.seen, death?.reason, death?.error], [1, 'attempts', 'it broke'])
    },
  },
  {
    title: '[V2] a later put that waits in after runs although the run before it died',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const first = await pool.takeOne()
      await pool.put('a', { at: START + 50, payload: '"B"' })
      await pool.settle(first, { kind: 'retry', dueAt: START + 10 })
      await clock.leap(10)
      assert.deepEqual(await pool.settle(await pool.takeOne(), DEAD), {
        result: 'settled',
        nextDueAt: START + 50,
      })
      await clock.leap(40)
      const run = await pool.takeOne()
      assert.deepEqual([run.payload, run.seen, run.attempt], ['"B"', 1, 0])
    },
  },
  {
    title: '[S6] an entry that went on after a death is failing until a run of it is done',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a')
      await pool.settle(run, DEAD)
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START })
      assert.equal((await pool.get('a')).failing, true)
      await pool.settle(await pool.takeOne(), { kind: 'again', dueAt: START + 9 })
      assert.equal((await pool.get('a')).failing, false)
    },
  },
  {
    title: '[S7] a death that left nothing keeps the entry, dead, with tally 0 and never due',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      await pool.put('a')
      const run = await pool.takeOne()
      await clock.leap(5)
      assert.deepEqual(await pool.settle(run, DEAD), { result: 'settled', nextDueAt: null })
      const entry = await pool.get('a')
      assert.deepEqual([entry.state, entry.next.tally, entry.failing], ['dead', 0, true])
      assert.deepEqual(await pool.take(), [])
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'gone', nextDueAt: null })
      assert.deepEqual(await pool.deaths(), [
        {
          key: 'a',
          slot: null,
          group: 'a',
          payload: '1',
          seen: 2,
          reason: 'attempts',
          error: 'it broke',
          diedAt: START + 5,
        },
      ])
    },
  },
  {
    title: '[S7] a dead entry has no run: a settle that names its turn is gone',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), DEAD)
      const { key, slot, turn } = await pool.get('a')
      const answer = await pool.settle({ key, slot, turn, seen: 0 }, { kind: 'done' })
      assert.deepEqual(answer, { result: 'gone', nextDueAt: null })
      assert.equal((await pool.get('a')).state, 'dead')
    },
  },
  {
    title: '[S7] the newest deaths come first, as many as asked for',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      for (const key of ['a', 'b', 'c']) {
        await pool.put(key)
        await pool.settle(await pool.takeOne(), { kind: 'dead', reason: key, error: null })
        await clock.leap(1)
      }
      const reasons = (deaths: { reason: string }[]): string[] => deaths.map(({ reason }) => reason)
      assert.deepEqual(reasons(await pool.deaths()), ['c', 'b', 'a'])
      assert.deepEqual(reasons(await pool.deaths(2)), ['c', 'b'])
    },
  },
]

export const settleFailureCases: Case[] = [...retryCases, ...lastErrorCases, ...deathCases]
