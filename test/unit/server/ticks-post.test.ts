// POST /ticks with one tick and with a list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { LATER, ask, assertProblem, post, serve, until } from './serving.ts'

test('a tick is answered with 202, its time in UTC and its result', async (t) => {
  const serving = await serve(t)
  const answer = await post(serving, { item: 'a', at: '2030-01-01T01:00:00+01:00', payload: { n: 1 } })
  assert.equal(answer.status, 202)
  assert.deepEqual(answer.body, { item: 'a', at: LATER, result: 'created' })
  const stored = await serving.ticks.pool.get('a', LATER)
  assert.deepEqual(stored?.payload, { n: 1 })
})

test('a tick that exists is kept, in mode each', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: LATER })
  assert.equal((await post(serving, { item: 'a', at: LATER })).body['result'], 'kept')
})

test('a list is answered in its order', async (t) => {
  const serving = await serve(t)
  const answer = await post(serving, [
    { item: 'a', at: LATER },
    { item: 'b', at: 5 },
  ])
  assert.equal(answer.status, 202)
  assert.deepEqual(answer.body, [
    { item: 'a', at: LATER, result: 'created' },
    { item: 'b', at: '1970-01-01T00:00:00.005Z', result: 'created' },
  ])
})

test('a list with wrong ticks names each of them and puts nothing', async (t) => {
  const serving = await serve(t)
  const answer = await post(serving, [
    { item: 'a', at: LATER },
    { item: '', at: LATER },
    { item: 'c', at: 'soon' },
  ])
  assertProblem(answer, 400, 'invalid_input')
  const errors = answer.body['errors'] as { path: string; message: string }[]
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['[1].item', '[2].at'],
  )
  assert.equal((await serving.ticks.pool.count()).waiting, 0)
})

test('an empty list and one of more than 10,000 ticks are refused', async (t) => {
  const serving = await serve(t)
  assertProblem(await post(serving, []), 400, 'invalid_input')
  const ticks = Array.from({ length: 10_001 }, () => ({ item: 'a', at: 9e12 }))
  const answer = await post(serving, ticks)
  assertProblem(answer, 400, 'invalid_input')
  assert.match(String(answer.body['remedy']), /NDJSON/)
  assert.equal((await post(serving, ticks.slice(1))).status, 202)
})

test('what curl sends with -d is read as JSON, and so is a body without a type', async (t) => {
  const serving = await serve(t)
  const body = JSON.stringify({ item: 'a', at: LATER })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  assert.equal((await ask(serving, 'POST', '/ticks', { body, headers: form })).status, 202)
  const init = { method: 'POST', body: new Blob([body]) }
  assert.equal((await fetch(`${serving.url}/ticks`, init)).status, 202)
})

test('onConflict merges, replaces and keeps in mode one, and reject is a 409', async (t) => {
  const serving = await serve(t, { mode: 'one' })
  const results: unknown[] = []
  for (const onConflict of ['earliest', 'earliest', 'replace', 'keep']) {
    results.push((await post(serving, { item: 'a', at: LATER, onConflict })).body['result'])
  }
  assert.deepEqual(results, ['created', 'merged', 'replaced', 'kept'])
  assertProblem(await post(serving, { item: 'a', at: LATER, onConflict: 'reject' }), 409, 'tick_exists')
  assert.equal((await post(serving, { item: 'b', at: LATER, onConflict: 'reject' })).status, 202)
})

test('onConflict is refused where it has no meaning: in mode each, and reject in a list', async (t) => {
  const each = await post(await serve(t), { item: 'a', at: LATER, onConflict: 'keep' })
  assertProblem(each, 400, 'invalid_input')
  const list = await post(await serve(t, { mode: 'one' }), [{ item: 'a', at: LATER, onConflict: 'reject' }])
  assertProblem(list, 400, 'invalid_input')
})

test('the 202 comes after the commit, and many requests share one', async (t) => {
  const serving = await serve(t)
  const { entries } = serving.race.store.pool
  const put = entries.put.bind(entries)
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  let [commits, answered, received] = [0, 0, 0]
  const { pool: ticks } = serving.ticks
  const request = ticks.request.bind(ticks)
  ticks.request = (puts) => {
    received += 1
    return request(puts)
  }
  entries.put = async (pool, requests) => {
    commits += 1
    await gate
    return put(pool, requests)
  }
  const asked = Array.from({ length: 50 }, async (_, n) => {
    const { status } = await post(serving, { item: `a${n}`, at: LATER })
    answered += 1
    return status
  })
  await until(() => received === 50, 'all requests')
  assert.equal(answered, 0)
  open()
  assert.ok((await Promise.all(asked)).every((status) => status === 202))
  assert.ok(commits <= 2, `${commits} commits for 50 requests`)
})

test('a store that cannot write is a 503 that says when to come again', async (t) => {
  const serving = await serve(t)
  for (const code of ['store_full', 'store_busy', 'store_failed'] as const) {
    serving.race.store.pool.entries.put = () => Promise.reject(new HeadraceError(code, 'no room'))
    const answer = await post(serving, { item: 'a', at: LATER })
    assertProblem(answer, 503, code)
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.equal(answer.body['retryable'], true)
  }
})

test('a defect is a 500 that tells nothing of the inside, and is told to telemetry', async (t) => {
  const serving = await serve(t)
  serving.race.store.pool.entries.put = () => Promise.reject(new TypeError('secret /etc/passwd'))
  const failures: unknown[] = []
  t.after(serving.race.telemetry.on('http.failed', ({ error }) => failures.push(error)))
  const answer = await post(serving, { item: 'a', at: LATER })
  assertProblem(answer, 500, 'internal')
  assert.doesNotMatch(JSON.stringify(answer.body), /secret/)
  assert.equal(failures.length, 1)
})
