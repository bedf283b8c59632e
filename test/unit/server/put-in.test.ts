// Puts over HTTP that are due after a while.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, type Answer, type Serving, ask, assertProblem, serve } from './serving.ts'

function send(serving: Serving, method: string, path: string, value: unknown): Promise<Answer> {
  return ask(serving, method, `/v1/pools${path}`, { body: JSON.stringify(value) })
}

test('[M17] a put with `in` is due so long after it, in mode each under that time, and not together with `at`', async (t) => {
  const serving = await serve(t)
  await send(serving, 'PUT', '/vms', {})
  await send(serving, 'PUT', '/slots', { mode: 'each' })
  const before = serving.race.clock.now()
  const put = await send(serving, 'PUT', '/vms/entries/a', { in: '10m' })
  const slot = await send(serving, 'POST', '/slots/entries', { key: 'a', in: 600_000 })
  for (const { body } of [put, slot]) {
    const dueAt = Date.parse(body['dueAt'] as string)
    assert.ok(dueAt >= before + 600_000 && dueAt <= serving.race.clock.now() + 600_000)
  }
  assert.equal(slot.body['at'], slot.body['dueAt'])
  for (const wrong of [{ in: '10m', at: LATER }, { in: {} }, { in: -1 }]) {
    assertProblem(await send(serving, 'PUT', '/vms/entries/a', wrong), 400, 'invalid_input')
  }
})
