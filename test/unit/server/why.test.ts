// /v1/why on a real server, in situations that are brought about for real: every reason there is, and what has none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dead } from '../../../src/pool/answer.ts'
import { REASONS } from '../../../src/pool/why.ts'
import { LATER, ask, assertProblem, serve } from './serving.ts'
import { Stage, untilState } from './why/situation.ts'
import { NOT_THERE, SITUATIONS, bring } from './why/situations.ts'

for (const situation of SITUATIONS) {
  test(`[I8] [I9] ${situation.reason}: ${situation.title}`, async () => {
    const { reason, sentence } = await bring(situation)
    assert.equal(reason, situation.reason, String(sentence))
  })
}

test('[I8] every reason has its situation, but those of flows and calendars, which are not there yet', () => {
  const shown = new Set(SITUATIONS.map(({ reason }) => reason))
  assert.deepEqual(
    REASONS.filter((reason) => !shown.has(reason)),
    NOT_THERE,
  )
})

test('[I8] what runs, is dead, or is not there is kept waiting by nothing, and a pool that is not is told so', async (t) => {
  const stage = new Stage()
  t.after(() => stage.end())
  const { promise, resolve } = Promise.withResolvers<void>()
  const place = await stage.serve({ handler: ({ key }) => (key === 'bad' ? dead('no') : promise) })
  await place.pool.putAll([{ key: 'bad' }, { key: 'long' }])
  await untilState(place, 'bad', 'dead')
  await untilState(place, 'long', 'running')
  const told = await Promise.all(['bad', 'long', 'none'].map((key) => place.why(key)))
  assert.deepEqual(
    told.map(({ state, reason }) => [state, reason]),
    [
      ['dead', null],
      ['running', null],
      ['absent', null],
    ],
  )
  assertProblem(await ask(place, 'GET', '/v1/why?pool=nope&key=a'), 404, 'pool_unknown')
  assertProblem(await ask(place, 'GET', '/v1/why'), 400, 'invalid_input')
  resolve()
})

test('[I8] a tick is found in the pool of ticks, by its moment', async (t) => {
  const serving = await serve(t)
  await serving.ticks.pool.put('bill', { at: LATER })
  const { body } = await ask(serving, 'GET', `/v1/why?key=bill&at=${LATER}`)
  assert.deepEqual([body['pool'], body['reason']], ['ticks', 'not_due'])
})

test('[I8] the moment that is named is found behind however many others of its key', async (t) => {
  const serving = await serve(t)
  const at = Date.parse(LATER)
  await serving.ticks.pool.putAll(Array.from({ length: 1002 }, (_, nth) => ({ key: 'bill', at: at + nth })))
  const asked = async (moment: number): Promise<unknown> => {
    const { body } = await ask(serving, 'GET', `/v1/why?key=bill&at=${new Date(moment).toISOString()}`)
    return body['dueAt'] ?? body['state']
  }
  assert.equal(await asked(at + 1001), new Date(at + 1001).toISOString())
  assert.equal(await asked(at + 1002), 'absent')
})
