// What steers a pool: written by compare-and-set, and its version told by every pulse.
import assert from 'node:assert/strict'
import { type Control, NO_CONTROL } from '../pool/control.ts'
import type { Case } from './contract.ts'
import { openPool } from './pool-driver.ts'
import { START } from './virtual-clock.ts'

const PAUSED: Control = {
  ...NO_CONTROL,
  paused: { by: 'me', reason: 'a “reason”', since: START, until: null },
}

export const controlCases: Case[] = [
  {
    title: '[L11] a pool that nobody steered has version 0, no pause and no limits',
    run: async ({ store, clock }) => {
      await openPool(store)
      assert.deepEqual(await store.pool.control.read('work'), {
        now: clock.now(),
        version: 0,
        control: NO_CONTROL,
      })
    },
  },
  {
    title: '[L11] of two writes of one version one is written, and what was written is read',
    run: async ({ store }) => {
      await openPool(store)
      const { control } = store.pool
      const answers = await Promise.all([
        control.write('work', 0, PAUSED),
        control.write('work', 0, { ...PAUSED, paused: null }),
      ])
      assert.deepEqual([answers.includes(1), answers.includes(null)], [true, true])
      const limits = { ...NO_CONTROL.limits, pool: { concurrency: 3, rate: { count: 5, perMs: 1000 } } }
      assert.equal(await control.write('work', 1, { ...PAUSED, limits }), 2)
      for (const version of [0, 1, 3]) assert.equal(await control.write('work', version, NO_CONTROL), null)
      const found = await control.read('work')
      assert.deepEqual([found.version, found.control], [2, { ...PAUSED, limits }])
    },
  },
  {
    title: '[L11] a pulse tells the version of each pool that it is asked for, and a write is a hint',
    run: async ({ store }) => {
      await openPool(store)
      const pools = [{ pool: 'work', partitions: [0] }]
      const versionOf = async (): Promise<number | undefined> =>
        (await store.pulse({ beat: null, pools })).controls.get('work')
      assert.equal(await versionOf(), 0)
      const hints: string[] = []
      const unwatch = store.watch((hint) => hint.kind === 'control' && hints.push(hint.pool))
      await store.pool.control.write('work', 0, PAUSED)
      await store.pool.control.write('work', 0, PAUSED)
      unwatch()
      assert.ok(hints.includes('work'))
      assert.equal(await versionOf(), 1)
      assert.deepEqual((await store.pulse({ beat: null, pools: [] })).controls, new Map())
    },
  },
]
