// /v1/ticks: look, list, reschedule, cancel.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LATER, type Serving, ask, assertProblem, post, serve } from './serving.ts'

const at = (day: number): string => `2030-01-${String(day).padStart(2, '0')}T00:00:00.000Z`

interface Page {
  items: { item: string; at: string }[]
  next: string | null
}

async function list(serving: Serving, query: string): Promise<Page> {
  const answer = await ask(serving, 'GET', `/v1/ticks${query}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body as unknown as Page
}

test('a tick is found by item and at, with all that is known of it', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a/b c', at: LATER, payload: [1] })
  const { status, body } = await ask(serving, 'GET', `/v1/ticks/a%2Fb%20c?at=${LATER}`)
  assert.equal(status, 200)
  const { putAt, partition, ...rest } = body
  const expected = { item: 'a/b c', at: LATER, dueAt: LATER, state: 'waiting', payload: [1], tally: 1 }
  assert.deepEqual(rest, expected)
  assert.ok(typeof putAt === 'string' && typeof partition === 'number')
})

test('an item alone means all its ticks, in due order', async (t) => {
  const serving = await serve(t)
  await post(
    serving,
    [3, 1, 2].map((day) => ({ item: 'a', at: at(day) })),
  )
  await post(serving, { item: 'b', at: at(1) })
  const found = await ask(serving, 'GET', '/v1/ticks/a')
  const { items, next } = found.body as unknown as Page
  assert.deepEqual(
    items.map((tick) => tick.at),
    [at(1), at(2), at(3)],
  )
  assert.equal(next, null)
})

test('a tick that is not there is a 404', async (t) => {
  const serving = await serve(t)
  assertProblem(await ask(serving, 'GET', '/v1/ticks/a'), 404, 'tick_unknown')
  assertProblem(await ask(serving, 'GET', `/v1/ticks/a?at=${LATER}`), 404, 'tick_unknown')
  assertProblem(await ask(serving, 'DELETE', '/v1/ticks/a'), 404, 'tick_unknown')
  const body = JSON.stringify({ at: at(9) })
  assertProblem(await ask(serving, 'PATCH', `/v1/ticks/a?at=${LATER}`, { body }), 404, 'tick_unknown')
})

test('pages follow each other by cursor without a gap or a repeat', async (t) => {
  const serving = await serve(t)
  await post(
    serving,
    Array.from({ length: 25 }, (_, n) => ({ item: `i${n % 5}`, at: at(1 + (n % 25)) })),
  )
  const seen: string[] = []
  let after = ''
  for (let pages = 0; pages < 10; pages++) {
    const page = await list(serving, `?limit=4${after}`)
    seen.push(...page.items.map((tick) => `${tick.item} ${tick.at}`))
    if (page.next === null) break
    after = `&after=${page.next}`
  }
  assert.equal(seen.length, 25)
  assert.equal(new Set(seen).size, 25)
})

test('a list is narrowed by item, due window and state', async (t) => {
  const serving = await serve(t)
  await post(
    serving,
    [1, 2, 3, 4].map((day) => ({ item: `d${day}`, at: at(day) })),
  )
  const items = async (query: string): Promise<string[]> =>
    (await list(serving, query)).items.map(({ item }) => item)
  assert.deepEqual(await items('?item=d3'), ['d3'])
  assert.deepEqual(await items(`?due.from=${at(2)}&due.before=${at(4)}`), ['d2', 'd3'])
  assert.deepEqual(await items(`?due.from=${Date.parse(at(4))}`), ['d4'])
  assert.equal((await items('?state=waiting')).length, 4)
  assert.deepEqual(await items('?state=dead'), [])
})

test('a query that is not understood is refused, with the nearest name', async (t) => {
  const serving = await serve(t)
  const wrong = [
    'limit=0',
    'limit=1001',
    'limit=x',
    'state=asleep',
    'due.from=soon',
    'after=!!',
    'item=a&item=b',
  ]
  for (const query of wrong) {
    assertProblem(await ask(serving, 'GET', `/v1/ticks?${query}`), 400, 'invalid_input')
  }
  const answer = await ask(serving, 'GET', '/v1/ticks?due_from=x')
  assert.match(String(answer.body['remedy']), /due\.from/)
})

test('a tick is rescheduled in one step', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: at(1), payload: 'kept' })
  const body = JSON.stringify({ at: at(5) })
  const answer = await ask(serving, 'PATCH', `/v1/ticks/a?at=${at(1)}`, { body })
  assert.deepEqual([answer.status, answer.body], [200, { item: 'a', at: at(5), result: 'created' }])
  const { items } = await list(serving, '?item=a')
  assert.deepEqual(
    items.map((tick) => [tick.at, (tick as { payload?: unknown }).payload]),
    [[at(5), 'kept']],
  )
})

test('a tick that is due is too late to reschedule', async (t) => {
  const serving = await serve(t)
  await serving.ticks.service.stop()
  await post(serving, { item: 'a', at: 1 })
  const answer = await ask(serving, 'PATCH', '/v1/ticks/a?at=1', { body: JSON.stringify({ at: at(5) }) })
  assertProblem(answer, 409, 'tick_due')
})

test('[C2] a tick is not moved onto another one of its item', async (t) => {
  const serving = await serve(t)
  await post(serving, { item: 'a', at: at(1), payload: 'first' })
  await post(serving, { item: 'a', at: at(5), payload: 'second' })
  const body = JSON.stringify({ at: at(5) })
  assertProblem(await ask(serving, 'PATCH', `/v1/ticks/a?at=${at(1)}`, { body }), 409, 'tick_exists')
  const { items } = await list(serving, '?item=a')
  assert.deepEqual(
    items.map((tick) => [tick.at, (tick as { payload?: unknown }).payload]),
    [
      [at(1), 'first'],
      [at(5), 'second'],
    ],
  )
})

test('rescheduling needs the old time in mode each, and none in mode one', async (t) => {
  const each = await serve(t)
  await post(each, { item: 'a', at: at(1) })
  const body = JSON.stringify({ at: at(5) })
  assertProblem(await ask(each, 'PATCH', '/v1/ticks/a', { body }), 400, 'invalid_input')
  const one = await serve(t, { mode: 'one' })
  await post(one, { item: 'a', at: at(1) })
  assert.equal((await ask(one, 'PATCH', '/v1/ticks/a', { body })).status, 200)
})

test('a reschedule without a time, or with more than one, is refused', async (t) => {
  const serving = await serve(t)
  for (const body of ['{}', '[]', '{"at":"soon"}', '{"at":1,"item":"b"}', '']) {
    assertProblem(await ask(serving, 'PATCH', `/v1/ticks/a?at=${at(1)}`, { body }), 400, 'invalid_input')
  }
})

test('one tick is cancelled by its time, and all of an item without', async (t) => {
  const serving = await serve(t)
  await post(
    serving,
    [1, 2, 3].map((day) => ({ item: 'a', at: at(day) })),
  )
  const one = await ask(serving, 'DELETE', `/v1/ticks/a?at=${at(2)}`)
  assert.deepEqual([one.status, one.body], [200, { item: 'a', cancelled: 1, due: 0 }])
  assert.deepEqual((await ask(serving, 'DELETE', '/v1/ticks/a')).body, { item: 'a', cancelled: 2, due: 0 })
})

test('a page of large ticks ends early, and the next one goes on', async (t) => {
  const serving = await serve(t)
  const { pool } = serving.ticks
  const payload = 'é'.repeat(150_000)
  await pool.putAll(Array.from({ length: 30 }, (_, n) => ({ key: `i${n}`, at: at(1), payload })))
  const items: string[] = []
  let after = ''
  for (let pages = 0; pages < 10 && after !== 'end'; pages++) {
    const response = await fetch(`${serving.url}/v1/ticks?limit=1000${after}`)
    const text = await response.text()
    assert.ok(Buffer.byteLength(text) <= 4.1 * 1024 * 1024, `${text.length} characters in one page`)
    const page = JSON.parse(text) as Page
    items.push(...page.items.map(({ item }) => item))
    after = page.next === null ? 'end' : `&after=${page.next}`
  }
  assert.equal(items.length, 30)
  assert.equal(new Set(items).size, 30)
})

test('in mode one a time that is not the one of the tick is a 404, and changes nothing', async (t) => {
  const serving = await serve(t, { mode: 'one' })
  await post(serving, { item: 'a', at: at(1) })
  const body = JSON.stringify({ at: at(5) })
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const sent = method === 'PATCH' ? { body } : {}
    assertProblem(await ask(serving, method, `/v1/ticks/a?at=${at(2)}`, sent), 404, 'tick_unknown')
    assertProblem(await ask(serving, method, '/v1/ticks/a?at=garbage', sent), 400, 'invalid_input')
  }
  assert.equal((await ask(serving, 'GET', `/v1/ticks/a?at=${at(1)}`)).body['at'], at(1))
  assert.equal((await ask(serving, 'PATCH', `/v1/ticks/a?at=${at(1)}`, { body })).status, 200)
  assert.equal((await ask(serving, 'DELETE', `/v1/ticks/a?at=${at(5)}`)).status, 200)
})
