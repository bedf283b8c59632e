import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TopicEvent, createClient } from '../../../src/client/client.ts'
import { HeadraceError } from '../../../src/errors.ts'
import { systemClock } from '../../../src/clock.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { until } from '../../fault/until.ts'
import { openStream } from './open-stream.ts'
import { openServer } from './open-server.ts'

const PAST = '2020-01-01T00:00:00.000Z'

async function take(events: AsyncGenerator<TopicEvent, void>, count: number): Promise<TopicEvent[]> {
  const taken: TopicEvent[] = []
  for await (const event of events) {
    taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

test('a whole topic is followed from its oldest event on', async () => {
  await using server = await openServer()
  const client = createClient({ server: server.url })
  const items = ['a', 'b', 'c', 'd']
  await client.ticks.addAll(items.map((item) => ({ item, at: PAST })))
  const events = await take(client.topics.follow('ticks', { from: 'oldest' }), 4)
  assert.deepEqual(events.map(({ key }) => key).toSorted(), items)
})

test('one partition is followed from an offset on, and read the same', async () => {
  await using server = await openServer({ partitions: 1 })
  const client = createClient({ server: server.url })
  for (const item of ['a', 'b', 'c']) await client.ticks.add({ item, at: PAST })
  const followed = await take(client.topics.follow('ticks', { partition: 0, from: 1 }), 2)
  const read = await client.topics.read('ticks', { partition: 0, from: 1 })
  assert.deepEqual(read, { events: followed, next: 3 })
})

test('a signal ends following', async () => {
  await using server = await openServer()
  const stop = new AbortController()
  const client = createClient({ server: server.url })
  systemClock.timer(50, () => stop.abort())
  assert.deepEqual(await take(client.topics.follow('ticks', { signal: stop.signal }), 1), [])
})

test('an answer that is no stream of events is not followed', async () => {
  await using server = await openServer()
  const { pools } = createClient({ server: server.url })
  await pools.make('reports', { mode: 'each' })
  const reports = pools.of('reports')
  await reports.put({ key: 'r', at: '2099-01-01T00:00:00Z' })
  await assert.rejects(reports.follow('r').next(), { code: 'server_refused' })
})

test('following a topic that does not exist fails at once', async () => {
  await using server = await openServer()
  const events = createClient({ server: server.url }).topics.follow('nope')
  await assert.rejects(events.next(), { code: 'topic_unknown' })
})

const event = (partition: number, offset: number): string =>
  `data: ${JSON.stringify({ partition, offset, id: `${partition}/${offset}`, key: 'k', value: 1, headers: null, time: PAST })}\n\n`

test('a lost connection is resumed after the last id, and nothing is handed out twice', async () => {
  await using server = await openStream([
    `id: 0:1\n${event(0, 0)}${event(1, 0)}id: 9:9\ndata: {"cut`,
    `${event(1, 0)}${event(0, 1)}`,
  ])
  const lost: unknown[] = []
  const events = createClient({ server: server.url }).topics.follow('ticks', {
    onLost: (error) => lost.push(error),
  })
  const taken = await take(events, 3)
  assert.deepEqual(
    taken.map(({ id }) => id),
    ['0/0', '1/0', '0/1'],
  )
  assert.deepEqual(server.lastEventIds, [undefined, '0:1'])
})

test('a problem that the server tells within the stream ends it, unless it may pass', async () => {
  const problem = { code: 'offset_gone', detail: 'gone', remedy: 'start at the oldest' }
  const passing = { code: 'store_failed', detail: 'the disk', remedy: 'wait' }
  await using server = await openStream([
    `event: problem\ndata: ${JSON.stringify(passing)}\n\n`,
    `event: problem\ndata: ${JSON.stringify(problem)}\n\n`,
  ])
  const lost: string[] = []
  const onLost = (error: unknown): void => void lost.push((error as HeadraceError).code)
  const events = createClient({ server: server.url }).topics.follow('ticks', { onLost })
  await assert.rejects(events.next(), { code: 'offset_gone', message: 'gone' })
  assert.deepEqual(lost, ['store_failed'])
})

test('a connection without a byte for 45 seconds is taken for lost, and resumed', async () => {
  const clock = new VirtualClock()
  await using server = await openStream([`id: 0:1\n${event(0, 0)}`, event(0, 1)], { silent: true })
  const lost: string[] = []
  const onLost = (error: unknown): void => void lost.push((error as Error).message)
  const events = createClient({ server: server.url, clock }).topics.follow('ticks', { onLost })
  assert.equal((await events.next()).value?.id, '0/0')
  const next = events.next()
  await clock.advance(44_999)
  assert.deepEqual(lost, [])
  await clock.advance(1)
  await until('the loss is told', () => lost.length === 1, 5000)
  assert.match(lost[0] ?? '', /nothing came for 45000 ms/)
  await clock.advance(1000)
  assert.equal((await next).value?.id, '0/1')
  assert.deepEqual(server.lastEventIds, [undefined, '0:1'])
  await events.return()
})

test('a byte now and then keeps a connection, and so does a reader that takes its time', async () => {
  const clock = new VirtualClock()
  await using server = await openStream([event(0, 0)], { silent: true })
  const lost: unknown[] = []
  const onLost = (error: unknown): void => void lost.push(error)
  const events = createClient({ server: server.url, clock }).topics.follow('ticks', { onLost })
  await events.next()
  await clock.advance(100_000)
  for (let offset = 1; offset < 5; offset++) {
    const next = events.next()
    await clock.advance(40_000)
    server.say(`:\n\n${event(0, offset)}`)
    assert.equal((await next).value?.offset, offset)
  }
  assert.deepEqual(lost, [])
  await events.return()
})
