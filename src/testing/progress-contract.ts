// What runs tell of themselves.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const name = { key: 'a', slot: null }
const DAY = 24 * 3_600_000

export const progressCases: Case[] = [
  {
    title: '[Z5] the latest that a run told is kept, with the time, until its turn is gone',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const { progress } = store.pool
      await pool.put('a')
      const run = await pool.takeOne()
      assert.equal(await progress.read('work', name), null)
      const told = { ...name, turn: run.turn }
      assert.equal(await progress.tell('work', [{ ...told, progress: '1' }], pool.claim), 1)
      await clock.leap(10)
      assert.equal(await progress.tell('work', [{ ...told, progress: '{"done":2}' }], pool.claim), 1)
      assert.deepEqual(await progress.read('work', name), { progress: '{"done":2}', toldAt: START + 10 })
      await pool.put('a')
      assert.equal((await progress.read('work', name))?.progress, '{"done":2}')
      await pool.settle(run, { kind: 'done' })
      assert.equal(await progress.read('work', name), null)
      assert.equal(await progress.tell('work', [{ ...told, progress: '3' }], pool.claim), 0)
      assert.equal(await progress.read('work', name), null)
    },
  },
  {
    title: '[Z5] a run whose turn is gone tells nothing, also where another of its key has told',
    run: async ({ store }) => {
      const pool = await openPool(store)
      const { progress } = store.pool
      await pool.put('a')
      const first = await pool.takeOne()
      await pool.settle(first, { kind: 'retry', dueAt: START })
      const second = await pool.takeOne()
      const tell = (turn: number, text: string): Promise<number> =>
        progress.tell('work', [{ ...name, turn, progress: text }], pool.claim)
      assert.deepEqual([await tell(second.turn, '2'), await tell(first.turn, '1')], [1, 0])
      assert.equal((await progress.read('work', name))?.progress, '2')
    },
  },
  {
    title: '[Z5] [F2] what a member tells of a partition that is another’s changes nothing',
    run: async ({ store }) => {
      const pool = await openPool(store)
      await pool.put('a')
      const { turn } = await pool.takeOne()
      const stale = pool.claim
      const held = stale.held.map(({ partition, epoch }) => ({ partition, epoch: epoch + 1 }))
      await store.fences.raise('pool/work', { owner: 'other', held })
      assert.equal(await store.pool.progress.tell('work', [{ ...name, turn, progress: '1' }], stale), 0)
      assert.equal(await store.pool.progress.read('work', name), null)
    },
  },
  {
    title:
      '[Z5] slots of one key tell apart, and what was told is removed a day later, a bounded number at a time',
    run: async ({ store, clock }) => {
      const pool = await openPool(store, { mode: 'each' })
      const { progress } = store.pool
      for (const at of [START - 2, START - 1]) await pool.put('a', { at })
      const runs = await pool.take()
      const told = runs.map(({ key, slot, turn }) => ({ key, slot, turn, progress: String(slot) }))
      assert.equal(await progress.tell('work', told, pool.claim), 2)
      const first = { key: 'a', slot: START - 2 }
      assert.equal((await progress.read('work', first))?.progress, String(START - 2))
      await clock.leap(DAY - 1)
      assert.equal(await progress.sweep(9), 0)
      await clock.leap(1)
      assert.deepEqual([await progress.sweep(1), await progress.sweep(9), await progress.sweep(9)], [1, 1, 0])
      assert.equal(await progress.read('work', first), null)
    },
  },
]
