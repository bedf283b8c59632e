// Following a topic by server-sent events.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Serving, type Wire, fastClock, openWire, serve, until } from './serving.ts'

interface Message {
  id: string | null
  data: { partition: number; offset: number; key: string; value: unknown }
}

async function follow(
  t: Parameters<typeof openWire>[0],
  serving: Serving,
  path: string,
  headers = '',
): Promise<Wire> {
  const wire = await openWire(t, serving)
  wire.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n${headers}\r\n`)
  await wire.receives(': following')
  return wire
}

/** The messages in the raw answer; chunk sizes stand on lines of their own and are passed over. */
function messages({ received }: Wire): Message[] {
  const found: Message[] = []
  let id: string | null = null
  for (const line of received.split(/\r?\n/)) {
    if (line.startsWith('id: ')) id = line.slice(4)
    if (!line.startsWith('data: {"partition"')) continue
    found.push({ id, data: JSON.parse(line.slice(6)) as Message['data'] })
    id = null
  }
  return found
}

const append = (serving: Serving, ...keys: string[]): Promise<{ partition: number }[]> => {
  return serving.ticks.topic.append(...keys.map((key) => ({ key, value: { of: key } }) as never))
}

test('a whole topic is followed from its head on, each event once', async (t) => {
  const serving = await serve(t)
  await append(serving, 'old')
  const wire = await follow(t, serving, '/v1/topics/ticks/events')
  await append(serving, 'a', 'b', 'c')
  await until(() => messages(wire).length === 3, 'three events')
  await append(serving, 'd')
  await until(() => messages(wire).length === 4, 'four events')
  assert.deepEqual(
    messages(wire)
      .map(({ data }) => data.key)
      .sort(),
    ['a', 'b', 'c', 'd'],
  )
  assert.deepEqual(messages(wire)[3]?.data.value, { of: 'd' })
})

test('a stream begins with its positions, and a client that was cut before any event resumes there', async (t) => {
  const serving = await serve(t)
  await append(serving, 'old')
  const first = await follow(t, serving, '/v1/topics/ticks/events')
  const id = /^id: (\S+)$/m.exec(first.received)?.[1] ?? 'none'
  first.socket.destroy()
  await append(serving, 'missed')
  const second = await follow(t, serving, '/v1/topics/ticks/events', `last-event-id: ${id}\r\n`)
  await until(() => messages(second).length === 1, 'the event that came in between')
  assert.equal(messages(second)[0]?.data.key, 'missed')
})

test('from=oldest begins with what is there', async (t) => {
  const serving = await serve(t)
  await append(serving, 'a', 'b', 'c')
  const wire = await follow(t, serving, '/v1/topics/ticks/events?from=oldest')
  await until(() => messages(wire).length === 3, 'three events')
})

test('a topic is resumed from its last id without a gap or a repeat', async (t) => {
  const serving = await serve(t)
  const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
  const first = await follow(t, serving, '/v1/topics/ticks/events')
  await append(serving, ...keys.slice(0, 20))
  await until(
    () => messages(first).length === 20 && messages(first).at(-1)?.id !== null,
    '20 events and an id',
  )
  first.socket.destroy()
  await append(serving, ...keys.slice(20))
  const id = messages(first).at(-1)?.id ?? ''
  assert.match(id, /^0:\d+,1:\d+,2:\d+,3:\d+$/)
  const second = await follow(t, serving, '/v1/topics/ticks/events', `last-event-id: ${id}\r\n`)
  await until(() => messages(second).length === 20, 'the other 20')
  const seen = [...messages(first), ...messages(second)].map(({ data }) => data.key)
  assert.deepEqual(seen.sort(), [...keys].sort())
})

test('one partition is followed in order, and resumed after its last offset', async (t) => {
  const serving = await serve(t)
  const partition = (await append(serving, 'k', 'k', 'k'))[0]?.partition ?? 0
  const path = `/v1/topics/ticks/partitions/${partition}/events`
  const all = await follow(t, serving, path)
  await until(() => messages(all).length === 3, 'three events')
  assert.deepEqual(
    messages(all).map(({ id }) => id),
    ['0', '1', '2'],
  )
  const rest = await follow(t, serving, path, 'last-event-id: 1\r\n')
  await append(serving, 'k')
  await until(() => messages(rest).length === 2, 'two events')
  assert.deepEqual(
    messages(rest).map(({ data }) => data.offset),
    [2, 3],
  )
})

test('an event is found even when its hint was lost', async (t) => {
  const serving = await serve(t)
  serving.race.store.watch = () => () => undefined
  const { log } = serving.race.store
  const read = log.read.bind(log)
  let reads = 0
  log.read = (topic, request) => {
    reads += 1
    return read(topic, request)
  }
  const wire = await follow(t, serving, '/v1/topics/ticks/events')
  await until(() => reads === 1, 'the look that finds nothing')
  await append(serving, 'a')
  await until(() => messages(wire).length === 1, 'the event')
})

test('a heartbeat comes every 15 seconds', async (t) => {
  const serving = await serve(t, {}, { clock: fastClock(100) })
  const wire = await follow(t, serving, '/v1/topics/ticks/events')
  await until(() => wire.received.split(/^: $/m).length > 3, 'three heartbeats')
})

test('a client that does not read holds no more than a little, and gets all when it does', async (t) => {
  const serving = await serve(t)
  const wire = await follow(t, serving, '/v1/topics/ticks/partitions/0/events')
  wire.socket.pause()
  let read = 0
  const { log } = serving.race.store
  const reading = log.read.bind(log)
  log.read = async (topic, request) => {
    const page = await reading(topic, request)
    read += page.events.length
    return page
  }
  const event = { key: 'a', partition: 0, value: JSON.stringify('x'.repeat(100_000)), headers: null }
  const events = Array.from({ length: 200 }, (_, n) => ({ id: `e${n}`, ...event }))
  await log.append('ticks', events)
  await serving.race.clock.sleep(500)
  assert.ok(read < 150, `${read} events were read for a client that reads nothing`)
  wire.socket.resume()
  await until(() => wire.received.includes('"offset":199'), 'the last event', 10_000)
})

test('nobody listens, nothing is read', async (t) => {
  const serving = await serve(t, {}, { clock: fastClock(20) })
  const { store } = serving.race
  const watch = store.watch.bind(store)
  let ended = false
  store.watch = (listener) => {
    const unwatch = watch(listener)
    return () => {
      ended = true
      unwatch()
    }
  }
  const wire = await follow(t, serving, '/v1/topics/ticks/events')
  wire.socket.destroy()
  await until(() => ended, 'the end of the follower')
  let calls = 0
  store.log.read = () => Promise.reject(new Error(`call ${(calls += 1)}`))
  await append(serving, 'a')
  await serving.race.clock.sleep(3000)
  assert.equal(calls, 0)
})

test('a store that fails ends the stream with a problem', async (t) => {
  const serving = await serve(t)
  const wire = await follow(t, serving, '/v1/topics/ticks/events')
  serving.race.store.log.read = () => Promise.reject(new Error('gone'))
  await append(serving, 'a')
  await wire.receives('event: problem')
  await until(() => wire.closed, 'the end')
})

test('a whole topic is read in small pages, each in one call, and no partition waits for another', async (t) => {
  const serving = await serve(t)
  const { log } = serving.race.store
  const event = { key: 'a', value: JSON.stringify('x'.repeat(50_000)), headers: null }
  const events = Array.from({ length: 80 }, (_, n) => ({ id: `e${n}`, partition: n % 4, ...event }))
  await log.append('ticks', events)
  const pages: { id: string; value: string; partition: number }[][] = []
  const read = log.read.bind(log)
  log.read = async (topic, request) => {
    const page = await read(topic, request)
    pages.push(page.events)
    return page
  }
  await follow(t, serving, '/v1/topics/ticks/events?from=oldest')
  await until(() => pages.flat().length === 80, 'all events')
  for (const page of pages) {
    const bytes = page.reduce((sum, { value }) => sum + value.length, 0)
    assert.ok(bytes <= 256 * 1024, `${bytes} bytes in one page`)
  }
  const first = pages.slice(0, 4).flatMap((page) => page.map(({ partition }) => partition))
  assert.equal(new Set(first).size, 4)
})
