// How a pool remembers fired slots: rule [T5] of docs/spec/pool.md, a part of mover-contract.ts.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { openTicks } from './ticks-driver.ts'
import { START } from './virtual-clock.ts'

export const rememberCases: Case[] = [
  {
    title: '[T5] a fired slot that is remembered keeps repeats out, until it is forgotten',
    run: async ({ store, clock }) => {
      const { pool, topic, move } = await openTicks(store, { rememberMs: 1000 })
      const at = START
      await pool.put('a', { at })
      await move()
      assert.deepEqual(await pool.put('a', { at }), { result: 'kept', dueAt: START, tally: 0 })
      await clock.leap(999)
      assert.equal((await pool.put('a', { at })).result, 'kept')
      assert.equal((await move()).count, 0)
      await clock.leap(1)
      assert.equal((await pool.put('a', { at })).result, 'created')
      assert.equal((await move()).count, 1)
      const [first, second] = await topic.readAll()
      assert.equal(first?.id, second?.id)
    },
  },
  {
    title: '[T5] only the fired slot is remembered, not other slots or keys',
    run: async ({ store }) => {
      const { pool, move } = await openTicks(store, { rememberMs: 1000 })
      await pool.put('a', { at: START })
      await move()
      assert.equal((await pool.put('a', { at: START - 1 })).result, 'created')
      assert.equal((await pool.put('b', { at: START })).result, 'created')
    },
  },
  {
    title: '[T5] without remember a repeat fires again with the same id',
    run: async ({ store }) => {
      const { pool, topic, move } = await openTicks(store)
      for (const repeat of [1, 2]) {
        assert.equal((await pool.put('a', { at: START })).result, 'created', `post ${repeat}`)
        assert.equal((await move()).count, 1)
      }
      assert.equal(new Set((await topic.readAll()).map(({ id }) => id)).size, 1)
    },
  },
  {
    title: '[T5] a pool opened again without a word about it remembers on, until it is told otherwise',
    run: async ({ store }) => {
      const { pool, move } = await openTicks(store, { rememberMs: 1000 })
      await openTicks(store, { rememberMs: null })
      await pool.put('a', { at: START })
      await move()
      assert.equal((await pool.put('a', { at: START })).result, 'kept')
      await openTicks(store, { rememberMs: 0 })
      assert.equal((await pool.put('a', { at: START })).result, 'created')
    },
  },
  {
    title: '[T5] a cancelled slot was not fired and is not remembered',
    run: async ({ store }) => {
      const { pool } = await openTicks(store, { rememberMs: 1000 })
      await pool.put('a', { at: START + 5 })
      await pool.cancel('a', START + 5)
      assert.equal((await pool.put('a', { at: START + 5 })).result, 'created')
    },
  },
]
