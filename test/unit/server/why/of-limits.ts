// Situations in which a pause or a limit is what a key waits for.
import assert from 'node:assert/strict'
import type { LimitsOptions } from '../../../../src/pool/control.ts'
import { LATER } from '../serving.ts'
import { type Situation, held, untilReason, untilState } from './situation.ts'

function atOnce(scope: 'pool' | 'group', title: string): Situation {
  return {
    reason: 'pool_full',
    title,
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler })
      await place.pool.limit({ [scope]: { concurrency: 1 } } satisfies LimitsOptions)
      await place.pool.put('first', { group: 'g' })
      await untilState(place, 'first', 'running')
      await place.pool.put('second', { group: 'g' })
      const told = await place.why('second')
      const evidence = {
        kind: 'concurrency',
        scope,
        limit: 1,
        perMs: null,
        share: scope === 'pool' ? 1 : null,
        until: null,
      }
      assert.deepEqual(told['evidence'], evidence)
      release()
      await untilState(place, 'second', 'absent')
      return told
    },
  }
}

function inTime(scope: 'pool' | 'group', title: string): Situation {
  return {
    reason: 'rate_limited',
    title,
    async bring(stage) {
      const place = await stage.serve({ handler: () => undefined })
      await place.pool.limit({ [scope]: { rate: { count: 1, per: '1h' } } } satisfies LimitsOptions)
      await place.pool.put('first', { group: 'g' })
      await untilState(place, 'first', 'absent')
      await place.pool.put('second', { group: 'g' })
      const told = await untilReason(() => place.why('second'), 'rate_limited')
      const { until, ...limit } = told['evidence'] as Record<string, unknown>
      assert.deepEqual(limit, {
        kind: 'rate',
        scope,
        limit: 1,
        perMs: 3_600_000,
        share: scope === 'pool' ? 1 : null,
      })
      assert.ok(Date.parse(String(until)) > Date.parse(String(told['now'])))
      return told
    },
  }
}

export const ofLimits: Situation[] = [
  {
    reason: 'paused',
    title: 'its pool is paused: by whom, why, and until when',
    async bring(stage) {
      const place = await stage.serve({ handler: () => undefined })
      await place.pool.pause({ by: 'ann', reason: 'a move', until: LATER })
      await place.pool.put('a')
      const told = await place.why('a')
      assert.deepEqual(told['evidence'], { by: 'ann', reason: 'a move', until: LATER })
      assert.equal(told['next'], 'headrace pool resume vms')
      await place.pool.resume()
      await untilState(place, 'a', 'absent')
      return told
    },
  },
  atOnce('pool', 'its pool runs as many as it may'),
  atOnce('group', 'its group runs as many as it may'),
  inTime('pool', 'its pool has started as many as it may'),
  inTime('group', 'its group has started as many as it may'),
]
