import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTopic } from '../../../src/cli/topic-reader.ts'
import type { Client, ReadQuery, TopicDetail, TopicEvent } from '../../../src/client/client.ts'

/** Partition → the seconds of its events, the first at its oldest offset. */
const TIMES = [[1, 4, 5, 8], [], [2, 3, 6, 7, 9]]
const OLDEST = [0, 5, 10]

const TOPIC: TopicDetail = {
  name: 'ticks',
  partitions: 3,
  retentionMs: 1000,
  events: 9,
  bounds: TIMES.map((times, partition) => {
    const oldest = OLDEST[partition] ?? 0
    return { partition, oldest, head: oldest + times.length }
  }),
}

function event(partition: number, offset: number): TopicEvent {
  const second = TIMES[partition]?.[offset - (OLDEST[partition] ?? 0)] ?? 0
  const time = `2027-01-01T00:00:0${second}.000Z`
  return { partition, offset, id: String(second), key: 'k', value: null, headers: null, time }
}

/** A client whose pages hold at most two events; `reads` gathers what was asked. */
function clientOf(reads: ReadQuery[] = []): Client {
  const read = async ({ partition, from = 0, limit = 100 }: ReadQuery): Promise<unknown> => {
    reads.push({ partition, from, limit })
    const head = TOPIC.bounds[partition]?.head ?? 0
    const count = Math.min(limit, 2, head - from)
    const events = Array.from({ length: count }, (_, index) => event(partition, from + index))
    return { events, next: from + count }
  }
  return { topics: { read: (_topic: string, query: ReadQuery) => read(query) } } as unknown as Client
}

async function ids(client: Client, query: Partial<Parameters<typeof readTopic>[2]>): Promise<string> {
  const events = readTopic(client, TOPIC, { partition: undefined, from: 'oldest', limit: 100, ...query })
  let text = ''
  for await (const { id } of events) text += id
  return text
}

test('partitions are merged by time, page by page', async () => {
  assert.equal(await ids(clientOf(), {}), '123456789')
})

test('the limit holds over all partitions', async () => {
  assert.equal(await ids(clientOf(), { limit: 3 }), '123')
})

test('one partition is read from an offset, from its oldest or from its head', async () => {
  assert.equal(await ids(clientOf(), { partition: 2, from: 12 }), '679')
  assert.equal(await ids(clientOf(), { partition: 2 }), '23679')
  assert.equal(await ids(clientOf(), { partition: 2, from: 'head' }), '')
})

test('an empty partition is not read, and none beyond the head that the topic had', async () => {
  const reads: ReadQuery[] = []
  await ids(clientOf(reads), {})
  assert.ok(reads.every(({ partition }) => partition !== 1))
  const beyond = reads.filter(({ partition, from = 0, limit = 0 }) => {
    return from + limit > (TOPIC.bounds[partition]?.head ?? 0)
  })
  assert.deepEqual(beyond, [])
})

test('a partition that the topic does not have is refused', async () => {
  await assert.rejects(ids(clientOf(), { partition: 3 }), { code: 'partition_unknown', remedy: /0 to 2/ })
})
