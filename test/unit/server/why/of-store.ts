// Situations in which the store is what a key waits for.
import assert from 'node:assert/strict'
import { HeadraceError } from '../../../../src/errors.ts'
import type { Store } from '../../../../src/store.ts'
import { changed } from '../../open-race.ts'
import { until } from '../serving.ts'
import { type Situation, untilReason, untilState } from './situation.ts'

type Take = Store['pool']['entries']['take']

/** A store with another way to take. */
function taking(take: (store: Store) => Take): (store: Store) => Partial<Store> {
  return (store) => {
    const entries = changed(store.pool.entries, { take: take(store) })
    return { pool: { ...store.pool, entries } }
  }
}

export const ofStore: Situation[] = [
  {
    reason: 'store_slow',
    title: 'the store refuses to be read',
    async bring(stage) {
      const refuse = (): Take => () => Promise.reject(new HeadraceError('store_failed', 'it is not there'))
      const { pool, why } = await stage.serve(
        { handler: () => undefined },
        {},
        await stage.open(taking(refuse)),
      )
      await pool.put('k')
      const told = await untilReason(() => why('k'), 'store_slow')
      assert.equal((told['evidence'] as Record<string, unknown>)['isFailing'], true)
      return told
    },
  },
  {
    reason: 'store_slow',
    title: 'the store does not answer pulses, and who owns what is in doubt',
    async bring(stage) {
      let answers = Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      const shared = await stage.open((store) => ({
        pulse: (...asked) => answers.then(() => store.pulse(...asked)),
      }))
      const place = await stage.serve({ handler: () => undefined }, { lease: '600ms' }, shared)
      await place.pool.put('first')
      await untilState(place, 'first', 'absent')
      answers = promise
      await until(() => !place.race.roster.isTrusted, 'doubt')
      await place.pool.put('k')
      const told = await untilReason(() => place.why('k'), 'store_slow')
      assert.equal((told['evidence'] as Record<string, unknown>)['isTrusted'], false)
      resolve()
      return told
    },
  },
  {
    reason: 'unknown',
    title: 'it is due, and nothing that is known keeps it waiting',
    async bring(stage) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const wait =
        (store: Store): Take =>
        (...asked) =>
          promise.then(() => store.pool.entries.take(...asked))
      const { pool, why } = await stage.serve(
        { handler: () => undefined },
        {},
        await stage.open(taking(wait)),
      )
      await pool.put('k')
      const told = await untilReason(() => why('k'), 'unknown')
      assert.equal(told['next'], 'ask again in a moment')
      resolve()
      return told
    },
  },
]
