// Cancel and reschedule.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { openPool } from './pool-driver.ts'
import { openTicks } from './ticks-driver.ts'
import { START } from './virtual-clock.ts'

const cancelCases: Case[] = [
  {
    title: '[C1] a cancel removes a waiting entry with everything put on it',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a', { at: START + 5 })
      await pool.put('a', { at: START + 5 })
      assert.deepEqual(await pool.cancel('a'), { cancelled: 1, due: 0 })
      assert.deepEqual(await pool.cancel('a'), { cancelled: 0, due: 0 })
      await clock.leap(5)
      assert.deepEqual(await pool.take(), [])
    },
  },
  {
    title: '[C1] a cancel of a due entry removes it and says that a run may be on its way',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a', { at: START + 50 })
      assert.deepEqual(await pool.cancel('a', null), { cancelled: 0, due: 1 })
      assert.deepEqual(await pool.settle(run, { kind: 'done' }), { result: 'gone', nextDueAt: null })
      await clock.leap(50)
      assert.deepEqual(await pool.take(), [])
    },
  },
  {
    title: '[C1] a cancel with a time removes that slot, and without one every slot of the key',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      for (const at of [0, 1, 2, 3]) await pool.put('a', { at: START + at })
      await pool.put('b', { at: START + 1 })
      assert.deepEqual(await pool.cancel('a', START + 2), { cancelled: 1, due: 0 })
      assert.deepEqual(await pool.cancel('a', START + 2), { cancelled: 0, due: 0 })
      await clock.leap(1)
      assert.deepEqual(await pool.cancel('a'), { cancelled: 1, due: 2 })
      assert.deepEqual(
        (await pool.list()).map(({ key }) => key),
        ['b'],
      )
    },
  },
  {
    title: '[C1] a cancel of an entry that backs off or is dead counts as cancelled',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START + 9 })
      assert.deepEqual(await pool.cancel('a'), { cancelled: 1, due: 0 })
      await pool.put('b')
      await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
      assert.deepEqual(await pool.cancel('b'), { cancelled: 1, due: 0 })
      assert.deepEqual(await pool.list(), [])
      assert.equal((await pool.deaths()).length, 1)
    },
  },
]

const rescheduleCases: Case[] = [
  {
    title: '[C2] a reschedule moves a waiting slot and keeps payload, lane and group',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each', partitions: 32 })
      await pool.put('a', { at: START + 5, payload: '{"n":1}', lane: 'bulk', group: 'g' })
      const before = await pool.get('a', START + 5)
      assert.deepEqual(await pool.reschedule('a', START + 5, START + 9), {
        kind: 'moved',
        answer: { result: 'created', dueAt: START + 9, tally: 1 },
      })
      assert.equal(await pool.find('a', START + 5), null)
      const { next, lane, group, partition, turn } = await pool.get('a', START + 9)
      assert.deepEqual([next.payload, lane, group, partition], ['{"n":1}', 'bulk', 'g', before.partition])
      assert.notEqual(turn, before.turn)
      await clock.leap(8)
      assert.deepEqual(await pool.take({ lane: 'bulk' }), [])
      await clock.leap(1)
      assert.equal((await pool.take({ lane: 'bulk' })).length, 1)
    },
  },
  {
    title: '[C2] a reschedule to a slot that is taken answers exists and changes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a', { at: START + 5, payload: '5' })
      await pool.put('a', { at: START + 9, payload: '9' })
      await pool.put('a', { at: START, payload: '0' })
      const before = await pool.list()
      assert.deepEqual(await pool.reschedule('a', START + 5, START + 9), { kind: 'exists' })
      assert.deepEqual(await pool.reschedule('a', START + 9, START), { kind: 'exists' })
      assert.deepEqual(await pool.list(), before)
    },
  },
  {
    title: '[C2] a reschedule to a slot whose entry is dead takes its place',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a', { at: START, payload: '0' })
      await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
      await pool.put('a', { at: START + 9, payload: '9' })
      const { kind } = await pool.reschedule('a', START + 9, START)
      assert.equal(kind, 'moved')
      assert.deepEqual(
        (await pool.list()).map(({ slot, state, next }) => [slot, state, next.payload]),
        [[START, 'live', '9']],
      )
    },
  },
  {
    title: '[C2] a reschedule of a due entry changes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a', { at: START })
      const before = await pool.get('a', START)
      assert.deepEqual(await pool.reschedule('a', START, START + 9), { kind: 'due' })
      assert.deepEqual(await pool.list(), [before])
    },
  },
  {
    title: '[C2] a reschedule of what is not there changes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a', { at: START + 5 })
      assert.deepEqual(await pool.reschedule('a', START + 6, START + 9), { kind: 'absent' })
      assert.deepEqual(await pool.reschedule('b', START + 5, START + 9), { kind: 'absent' })
      assert.deepEqual(
        (await pool.list()).map(({ key, slot }) => [key, slot]),
        [['a', START + 5]],
      )
    },
  },
  {
    title: '[C2] a reschedule into the past is due now',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { at: START + 5, payload: 'null' })
      await pool.reschedule('a', null, START - 5)
      const run = await pool.takeOne()
      assert.deepEqual([run.dueAt, run.payload], [START, 'null'])
    },
  },
  {
    title: '[C2] a reschedule to the same time, and of an entry without payload, leaves it as it was',
    run: async ({ store }) => {
      const pool = await openPool(store, { mode: 'each' })
      await pool.put('a', { at: START + 5 })
      const answer = await pool.reschedule('a', START + 5, START + 5)
      assert.deepEqual(answer.kind, 'moved')
      assert.deepEqual((await pool.get('a', START + 5)).next, { dueAt: START + 5, tally: 1, payload: null })
    },
  },
]

const lateAndModeOneCases: Case[] = [
  {
    title: '[C2] a reschedule onto a slot that has fired and is remembered changes nothing',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store, { rememberMs: 600_000 })
      await pool.put('a', { at: START })
      await pool.put('a', { at: START + 5000, payload: '1' })
      await move()
      const before = await pool.get('a', START + 5000)
      assert.deepEqual(await pool.reschedule('a', START + 5000, START), { kind: 'due' })
      assert.deepEqual(await pool.get('a', START + 5000), before)
      await clock.leap(5000)
      assert.equal((await move()).count, 1)
      assert.equal((await topic.readAll()).length, 2)
    },
  },
  {
    title: '[C2] in mode one a reschedule moves the next run with all its puts, and takes a new turn',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      for (const payload of ['1', '2', '3']) await pool.put('a', { at: START + 5, payload, lane: 'bulk' })
      const before = await pool.get('a')
      assert.deepEqual(await pool.reschedule('a', null, START + 9), {
        kind: 'moved',
        answer: { result: 'replaced', dueAt: START + 9, tally: 3 },
      })
      const { turn, ...moved } = await pool.get('a')
      const next = { dueAt: START + 9, tally: 3, payload: '3' }
      assert.deepEqual({ ...moved, turn: before.turn }, { ...before, next })
      assert.notEqual(turn, before.turn)
      await clock.leap(8)
      assert.deepEqual(await pool.take({ lane: 'bulk' }), [])
      await clock.leap(1)
      assert.equal((await pool.take({ lane: 'bulk' }))[0]?.seen, 3)
    },
  },
  {
    title: '[C2] in mode one the run after stays where it was, and so does the attempt',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const run = await pool.takeOne()
      await pool.put('a', { at: START + 90, payload: '"after"' })
      await pool.settle(run, { kind: 'retry', dueAt: START + 50 })
      await pool.reschedule('a', null, START - 5)
      const { next, after, attempt } = await pool.get('a')
      assert.deepEqual(next, { dueAt: START, tally: 1, payload: null })
      assert.deepEqual(after, { dueAt: START + 90, tally: 1, payload: '"after"' })
      assert.equal(attempt, 1)
    },
  },
  {
    title: '[C2] a reschedule of a dead entry creates it anew',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a', { payload: '1' })
      await pool.settle(await pool.takeOne(), { kind: 'dead', reason: 'attempts', error: null })
      assert.deepEqual(await pool.reschedule('a', null, START + 9), {
        kind: 'moved',
        answer: { result: 'created', dueAt: START + 9, tally: 1 },
      })
      assert.equal((await pool.get('a')).attempt, 0)
    },
  },
]

export const changeCases: Case[] = [...cancelCases, ...rescheduleCases, ...lateAndModeOneCases]
