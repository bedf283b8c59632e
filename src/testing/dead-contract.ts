// What was given up: to run it again, and to remove it.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { type PoolDriver, openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const name = { key: 'a', slot: null }

async function die(pool: PoolDriver, reason: string): Promise<void> {
  await pool.settle(await pool.takeOne(), { kind: 'dead', reason, error: 'Error: no' })
}

export const deadCases: Case[] = [
  {
    title: '[S10] a dead entry that is redriven is due now, with its payload, tally 0 and attempt 0',
    run: async ({ store, clock }) => {
      const pool = await openPool(store)
      const hints: number[] = []
      await pool.put('a', { payload: '7' })
      await pool.settle(await pool.takeOne(), { kind: 'retry', dueAt: START })
      await die(pool, 'attempts')
      const { turn } = await pool.get('a')
      await clock.leap(50)
      const unwatch = store.watch((hint) => hint.kind === 'put' && hints.push(hint.dueAt))
      assert.equal(await store.pool.dead.redrive('work', name), true)
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
      await pool.put('a')
      await die(pool, 'no')
      await store.pool.dead.redrive('work', name)
      assert.deepEqual(await pool.put('a'), { result: 'merged', dueAt: START, tally: 1 })
      assert.equal((await pool.takeOne()).seen, 1)
    },
  },
  ...(['redrive', 'remove'] as const).map((call): Case => {
    return {
      title: `[${call === 'redrive' ? 'S10' : 'S11'}] ${call} leaves alone what lives, and what is not there`,
      run: async ({ store }) => {
        const pool = await openPool(store)
        assert.equal(await store.pool.dead[call]('work', name), false)
        await pool.put('a', { at: START + 90 })
        const before = await pool.get('a')
        assert.equal(await store.pool.dead[call]('work', name), false)
        assert.deepEqual(await pool.get('a'), before)
      },
    }
  }),
  {
    title: '[S11] a dead entry that is removed is gone, with the records of its deaths and of no other',
    run: async ({ store }) => {
      const pool = await openPool(store)
      for (const reason of ['first', 'second']) {
        await pool.put('a')
        await die(pool, reason)
      }
      await pool.put('b')
      await die(pool, 'other')
      assert.equal(await store.pool.dead.remove('work', name), true)
      assert.equal(await pool.find('a'), null)
      const deaths = await store.pool.browse.deaths('work', 9)
      assert.deepEqual(
        deaths.map(({ key }) => key),
        ['b'],
      )
      assert.equal(await store.pool.dead.remove('work', name), false)
      assert.equal((await pool.put('a')).result, 'created')
    },
  },
]
