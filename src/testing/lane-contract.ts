// The lanes of puts that name none, and what pools are told of fanning out: rule [E5] of docs/spec/pool.md.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
import { asPut, openPool } from './pool-driver.ts'

export const laneCases: Case[] = [
  {
    title:
      '[E5] in a pool that fans out a put without a lane goes to fanout, and one that names a lane to that one',
    run: async ({ store }) => {
      const pool = await openPool(store, { fansOut: true })
      await pool.putAll([asPut('a'), asPut('b', { lane: 'bulk' }), asPut('c', { group: 'g' })])
      const lanes = await Promise.all(['a', 'b', 'c'].map(async (key) => (await pool.get(key)).lane))
      assert.deepEqual(lanes, ['fanout', 'bulk', 'fanout'])
      assert.equal((await pool.take({ lane: 'fanout' })).length, 2)
    },
  },
  {
    title: '[E5] in every other pool a put without a lane is normal, also beside one that fans out',
    run: async ({ store }) => {
      await openPool(store, { name: 'collect', fansOut: true })
      for (const given of [{}, { fansOut: false }]) {
        const pool = await openPool(store, { name: `items-${Object.keys(given).length}`, ...given })
        await pool.put('a')
        assert.equal((await pool.get('a')).lane, 'normal')
      }
    },
  },
  {
    title:
      '[E5] an opening that does not say whether the pool fans out leaves it, and another word is refused',
    run: async ({ store }) => {
      await openPool(store, { fansOut: true })
      const again = await openPool(store)
      await again.put('a')
      assert.equal((await again.get('a')).lane, 'fanout')
      await openPool(store, { fansOut: true })
      await assert.rejects(openPool(store, { fansOut: false }), { code: 'pool_mismatch', message: /fansOut/ })
      await openPool(store, { name: 'other' })
      await assert.rejects(openPool(store, { name: 'other', fansOut: true }), { code: 'pool_mismatch' })
    },
  },
]
