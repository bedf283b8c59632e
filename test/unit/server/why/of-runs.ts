// Situations in which a run of the key itself, or its handlers, is what it waits for.
import assert from 'node:assert/strict'
import type { Headrace } from '../../../../src/headrace.ts'
import { retry } from '../../../../src/pool/answer.ts'
import { LATER, until } from '../serving.ts'
import { type Situation, askWhy, held, untilReason, untilState } from './situation.ts'

export const ofRuns: Situation[] = [
  {
    reason: 'not_due',
    title: 'its time has not come',
    async bring(stage) {
      const { pool, why } = await stage.serve({ handler: () => undefined })
      await pool.put('later', { at: LATER })
      const told = await untilReason(() => why('later'), 'not_due')
      assert.deepEqual([told['state'], told['dueAt']], ['waiting', LATER])
      assert.deepEqual(told['evidence'], { dueAt: LATER })
      return told
    },
  },
  {
    reason: 'backing_off',
    title: 'it failed, and waits to be tried again',
    async bring(stage) {
      const { pool, why } = await stage.serve({ handler: () => retry('1h') })
      await pool.put('flaky')
      const told = await untilReason(() => why('flaky'), 'backing_off')
      assert.equal((told['evidence'] as Record<string, unknown>)['attempt'], 1)
      return told
    },
  },
  {
    reason: 'pool_full',
    title: 'every handler of its member is busy',
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler, concurrency: 1 })
      await place.pool.put('first')
      await untilState(place, 'first', 'running')
      await place.pool.put('second')
      const told = await place.why('second')
      assert.equal(told['state'], 'due')
      release()
      await untilState(place, 'second', 'absent')
      return told
    },
  },
  {
    reason: 'pool_full',
    title: 'a run that was in two crashes has its member to itself',
    async bring(stage) {
      const { handler, release } = held()
      const place = await stage.serve({ handler })
      const { pool, why, race } = place
      await pool.pause()
      await pool.put('poison')
      await until(() => markTwice(race, 'poison'), 'its mark')
      await pool.resume()
      await untilState(place, 'poison', 'running')
      await pool.put('other')
      const told = await untilReason(() => why('other'), 'pool_full')
      assert.deepEqual(told['evidence'], { alone: { pool: 'vms', key: 'poison' } })
      assert.match(String(told['sentence']), /has m1 to itself/)
      release()
      return told
    },
  },
  {
    reason: 'waiting_key',
    title: 'its handler was aborted, and goes on',
    async bring(stage) {
      const { handler, release } = held()
      const { pool, why } = await stage.serve({ handler, timeout: '20ms' })
      await pool.put('deaf')
      const told = await untilReason(() => why('deaf'), 'waiting_key')
      assert.equal((told['evidence'] as Record<string, unknown>)['aborted'], 'timeout')
      assert.match(String(told['next']), /heed ctx\.signal/)
      release()
      return told
    },
  },
  {
    reason: 'waiting_key',
    title: 'another run of the key is under way',
    async bring(stage) {
      const { handler, release } = held()
      const serving = await stage.serve(null)
      const { race } = serving
      const pool = race.pool('meetings', { mode: 'each' })
      race.work(pool, handler)
      const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z']
      const whyAt = (at: string) => askWhy(serving, `pool=meetings&key=m&at=${at}`)
      await pool.put('m', { at: first })
      await untilState({ why: () => whyAt(first) }, 'm', 'running')
      await pool.put('m', { at: second })
      const told = await untilReason(() => whyAt(second), 'waiting_key')
      const { slot, aborted } = told['evidence'] as Record<string, unknown>
      assert.deepEqual([slot, aborted], [first, null])
      release()
      return told
    },
  },
]

/** As if it had been under way in two crashes; false: its partition is nobody's yet. */
async function markTwice({ store }: Headrace, key: string): Promise<boolean> {
  const entry = await store.pool.browse.get('vms', { key, slot: null })
  const fences = await store.fences.fences('pool/vms')
  const { owner = '' } = fences.find(({ partition }) => partition === entry?.partition) ?? {}
  const mark = { key, slot: null, turn: entry?.turn ?? 0, crashes: 2 }
  const [answer] = await store.pool.entries.mark('vms', [mark], { owner, held: fences })
  return answer?.result === 'marked'
}
