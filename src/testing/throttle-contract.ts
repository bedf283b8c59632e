// How the keys of a throttled pool rest between their runs: rules [M11] to [M13] of docs/spec/pool.md.
import assert from 'node:assert/strict'
import type { Outcome } from '../pool/settle.ts'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'
import { openTicks } from './ticks-driver.ts'
import { START } from './virtual-clock.ts'

const DONE: Outcome = { kind: 'done' }
const DEAD: Outcome = { kind: 'dead', reason: 'no', error: null }
const throttled = { throttleMs: 1000 }

const resting: Case[] = [
  {
    title:
      '[M11] the first put is due at once, and one after its run when the key has rested since the settle',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, throttled)
      assert.deepEqual(await pool.put('a'), { result: 'created', dueAt: START, tally: 1 })
      const run = await pool.takeOne()
      await clock.leap(100)
      assert.deepEqual(await pool.settle(run, DONE), { result: 'settled', nextDueAt: null })
      assert.equal(await pool.find('a'), null)
      await clock.leap(300)
      assert.deepEqual(await pool.put('a'), { result: 'created', dueAt: START + 1100, tally: 1 })
      assert.deepEqual(await pool.put('a'), { result: 'merged', dueAt: START + 1100, tally: 2 })
      assert.deepEqual(await pool.put('b'), { result: 'created', dueAt: START + 400, tally: 1 })
      const replaced = await pool.put('a', { onConflict: 'replace', at: START + 500 })
      assert.deepEqual(replaced, { result: 'replaced', dueAt: START + 1100, tally: 1 })
      await clock.leap(700)
      assert.deepEqual(
        (await pool.take()).map(({ key, seen }) => [key, seen]),
        [
          ['b', 1],
          ['a', 1],
        ],
      )
    },
  },
  {
    title:
      '[M11] a key that has rested, or asks for later, is due as it asks; a listing and a count show none that rests',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, throttled)
      await pool.putAll([asPut('a'), asPut('b')])
      for (const run of await pool.take()) await pool.settle(run, DONE)
      assert.deepEqual([await pool.list(), await pool.list({ key: 'a' })], [[], []])
      assert.deepEqual(await pool.count(), { waiting: 0, due: 0, 'backing-off': 0, dead: 0 })
      assert.equal((await pool.put('a', { at: START + 5000 })).dueAt, START + 5000)
      await clock.leap(1000)
      assert.deepEqual(await pool.put('b'), { result: 'created', dueAt: START + 1000, tally: 1 })
    },
  },
  {
    title: '[M11] what was put while a run was under way, waits after it, or was asked for by it, rests too',
    run: async ({ store }) => {
      const pool = await openPool(store, throttled)
      await pool.putAll(['grown', 'after', 'again'].map((key) => asPut(key)))
      const runs = new Map((await pool.take()).map((run) => [run.key, run]))
      await pool.put('grown')
      await pool.put('after', { at: START + 5 })
      const dueAts: (number | null)[] = []
      for (const [key, run] of runs) {
        const outcome: Outcome = key === 'again' ? { kind: 'again', dueAt: START + 7 } : DONE
        dueAts.push((await pool.settle(run, outcome)).nextDueAt)
      }
      assert.deepEqual(dueAts, [START + 1000, START + 1000, START + 1000])
      assert.equal((await pool.reschedule('after', null, START + 9)).kind, 'moved')
      assert.equal((await pool.get('after')).next.dueAt, START + 1000)
      assert.deepEqual(await pool.take(), [])
    },
  },
  {
    title: '[M11] a key whose run died rests as well, and what a put creates anew waits for that',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, throttled)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), DEAD)
      await clock.leap(10)
      assert.deepEqual(await pool.put('a'), { result: 'created', dueAt: START + 1000, tally: 1 })
      assert.equal((await pool.put('a', { onConflict: 'replace' })).dueAt, START + 1000)
    },
  },
  {
    title: '[M11] a key whose tick has moved rests, and what waits after it too',
    run: async ({ store, clock }) => {
      const { pool, move } = await openTicks(store, { mode: 'one', ...throttled })
      await pool.putAll([asPut('a'), asPut('b'), asPut('b', { at: START + 5 })])
      assert.deepEqual([(await move()).count, (await pool.get('b')).next.dueAt], [2, START + 1000])
      await clock.leap(1)
      assert.equal((await pool.put('a')).dueAt, START + 1000)
      assert.equal((await move()).count, 0)
      await clock.leap(999)
      assert.equal((await move()).count, 2)
    },
  },
]

const exceptions: Case[] = [
  {
    title: '[M12] a retry and a redrive do not wait for a rest',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, throttled)
      await pool.put('a')
      const retried = await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 10 })
      assert.equal(retried.nextDueAt, START + 10)
      await clock.leap(10)
      await pool.settle(await pool.takeOne(), DEAD)
      const deaths = await pool.dead.list('work', { key: 'a', limit: 1 })
      assert.equal(
        await pool.dead.redrive(
          'work',
          deaths.map(({ id }) => id),
        ),
        1,
      )
      assert.equal((await pool.takeOne()).dueAt, START + 10)
    },
  },
  {
    title: '[M12] a cancel, by a caller or by the run, and a removal from the dead end the rest',
    run: async ({ store }) => {
      const pool = await openPool(store, throttled)
      await pool.putAll(['a', 'b', 'c'].map((key) => asPut(key)))
      for (const run of await pool.take())
        await pool.settle(run, run.key === 'a' ? DONE : run.key === 'b' ? { kind: 'cancel' } : DEAD)
      await pool.put('a')
      await pool.cancel('a')
      const deaths = await pool.dead.list('work', { key: 'c', limit: 1 })
      await pool.dead.remove(
        'work',
        deaths.map(({ id }) => id),
      )
      for (const key of ['a', 'b', 'c']) assert.equal((await pool.put(key)).dueAt, START, key)
    },
  },
  {
    title: '[M13] an opening that names no throttle leaves it, and one that names 0 ends every rest',
    run: async ({ store }) => {
      const pool = await openPool(store, throttled)
      await openPool(store)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), DONE)
      assert.equal((await pool.put('a')).dueAt, START + 1000)
      await openPool(store, { throttleMs: 0 })
      assert.equal((await pool.put('a')).dueAt, START)
      await pool.settle(await pool.takeOne(), DONE)
      assert.equal((await pool.put('a')).dueAt, START)
    },
  },
]

export const throttleCases: Case[] = [...resting, ...exceptions]
