// The Idempotency-Key of POST /ticks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, ask, assertProblem, post, serve } from './serving.ts'

const KEY = { 'idempotency-key': 'request-1' }

test('a repeated request is answered as the first was, and says so', async (t) => {
  const serving = await serve(t)
  const first = await post(serving, { item: 'a', at: LATER }, KEY)
  const again = await post(serving, { item: 'a', at: LATER }, KEY)
  assert.deepEqual(again.body, first.body)
  assert.equal(again.body['result'], 'created')
  assert.equal(again.status, 202)
  assert.equal(first.headers.get('idempotency-replayed'), null)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
})

test('a list is replayed too', async (t) => {
  const serving = await serve(t)
  const first = await post(serving, [{ item: 'a', at: LATER }], KEY)
  assert.deepEqual((await post(serving, [{ item: 'a', at: LATER }], KEY)).body, first.body)
})

test('the same key with another body is refused, and nothing is put', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: LATER }, KEY)
  assertProblem(await post(serving, { item: 'b', at: LATER }, KEY), 422, 'idempotency_mismatch')
  assertProblem(await post(serving, [{ item: 'a', at: LATER }], KEY), 422, 'idempotency_mismatch')
  assert.equal((await serving.ticks.pool.count()).waiting, 1)
})

test('a key that is too long or not visible is refused', async (t) => {
  const serving = await serve(t)
  for (const key of ['k'.repeat(256), 'two words']) {
    assertProblem(
      await post(serving, { item: 'a', at: LATER }, { 'idempotency-key': key }),
      400,
      'invalid_input',
    )
  }
})

test('a stream of lines has no key', async (t) => {
  const headers = { ...KEY, 'content-type': 'application/x-ndjson' }
  assertProblem(await ask(await serve(t), 'POST', '/ticks', { body: '{}\n', headers }), 400, 'invalid_input')
})
