// /v1/topics and pages of events.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Serving, ask, assertProblem, post, serve } from './serving.ts'

interface EventPage {
  events: { offset: number; id: string; key: string; value: unknown; headers: unknown; time: string }[]
  next: number
}

async function append(serving: Serving, keys: string[], value: unknown = { n: 1 }): Promise<number> {
  const appended = await serving.ticks.topic.append(...keys.map((key) => ({ key, value }) as never))
  return appended[0]?.partition ?? 0
}

async function read(serving: Serving, partition: number, query = ''): Promise<EventPage> {
  const answer = await ask(serving, 'GET', `/v1/topics/ticks/partitions/${partition}/events${query}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body as unknown as EventPage
}

test('topics are listed with the number of their events', async (t) => {
  const serving = await serve(t)
  await append(serving, ['a', 'b', 'c'])
  const listed = await ask(serving, 'GET', '/v1/topics')
  const topic = { name: 'ticks', partitions: 4, retentionMs: 604_800_000, events: 3 }
  assert.deepEqual(listed.body, { items: [topic] })
  const one = (await ask(serving, 'GET', '/v1/topics/ticks')).body
  const { bounds, ...rest } = one
  assert.deepEqual(rest, topic)
  assert.equal((bounds as unknown[]).length, 4)
})

test('a due tick becomes an event that can be read', async (t) => {
  const serving = await serve(t)
  const moved = new Promise((resolve) => t.after(serving.race.telemetry.on('ticks.moved', resolve)))
  await post(serving, { item: 'a', at: 7, payload: { x: [1, null] } })
  await moved
  const pages = await Promise.all([0, 1, 2, 3].map((partition) => read(serving, partition)))
  const [event] = pages.flatMap(({ events }) => events)
  assert.deepEqual(event?.value, { item: 'a', at: '1970-01-01T00:00:00.007Z', payload: { x: [1, null] } })
  assert.deepEqual([event?.offset, event?.key, event?.id], [0, 'a', 'ticks/a/1970-01-01T00:00:00.007Z'])
  assert.match(event?.time ?? '', /^\d{4}-.*Z$/)
})

test('pages follow each other from offset to offset', async (t) => {
  const serving = await serve(t)
  const partition = await append(
    serving,
    Array.from({ length: 10 }, () => 'k'),
  )
  const first = await read(serving, partition, '?limit=4')
  assert.deepEqual([first.events.map(({ offset }) => offset), first.next], [[0, 1, 2, 3], 4])
  const rest = await read(serving, partition, `?from=${first.next}&limit=1000`)
  assert.deepEqual([rest.events.length, rest.next], [6, 10])
  assert.deepEqual(await read(serving, partition, '?from=10'), { events: [], next: 10 })
})

test('a page of large events ends early and says where to go on', async (t) => {
  const serving = await serve(t)
  const partition = await append(
    serving,
    Array.from({ length: 600 }, () => 'k'),
    'x'.repeat(20_000),
  )
  const page = await read(serving, partition, '?limit=1000')
  const bytes = JSON.stringify(page).length
  assert.ok(bytes > 4_000_000 && bytes <= 4 * 1024 * 1024, `${bytes} bytes in one page`)
  assert.equal(page.next, page.events.length)
  const rest = await read(serving, partition, `?from=${page.next}&limit=1000`)
  assert.equal(rest.events[0]?.offset, page.next)
})

test('what does not exist is a 404, and what makes no sense a 400', async (t) => {
  const serving = await serve(t)
  const cases: [string, number, string][] = [
    ['/v1/topics/nope', 404, 'topic_unknown'],
    ['/v1/topics/nope/events', 404, 'topic_unknown'],
    ['/v1/topics/nope/partitions/0/events', 404, 'topic_unknown'],
    ['/v1/topics/ticks/partitions/4/events', 404, 'partition_unknown'],
    ['/v1/topics/ticks/partitions/x/events', 404, 'partition_unknown'],
    ['/v1/topics/ticks/partitions/0/events?from=-1', 400, 'invalid_input'],
    ['/v1/topics/ticks/partitions/0/events?limit=1001', 400, 'invalid_input'],
    ['/v1/topics/ticks/partitions/0/events?form=1', 400, 'invalid_input'],
    ['/v1/topics/ticks/events?from=yesterday', 400, 'invalid_input'],
    ['/v1/topics?x=1', 400, 'invalid_input'],
  ]
  for (const [path, status, code] of cases) assertProblem(await ask(serving, 'GET', path), status, code)
})

test('offsets that fell off by retention are a 410 that says where to begin', async (t) => {
  const serving = await serve(t)
  const partition = await append(serving, ['k', 'k'])
  const { log } = serving.race.store
  const settings = { name: 'ticks', partitions: 4, retentionMs: 1 }
  await log.open(settings)
  await serving.race.clock.sleep(10)
  assert.equal(await log.trim('ticks', 10), 2)
  const path = `/v1/topics/ticks/partitions/${partition}/events`
  const answer = await ask(serving, 'GET', `${path}?from=0`)
  assertProblem(answer, 410, 'offset_gone')
  assert.match(String(answer.body['remedy']), /from 2 on/)
  assert.equal((await read(serving, partition)).next, 2)
})
