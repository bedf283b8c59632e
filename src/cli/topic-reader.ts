// Reads a topic to its present end: the partitions page by page, merged by the time of their events.
import type { Client, TopicDetail, TopicEvent } from '../client/client.ts'
import { HeadraceError } from '../errors.ts'

export interface TopicRead {
  /** One partition; all unless said. */
  partition: number | undefined
  from: number | 'oldest' | 'head'
  limit: number
}

/** Events of a partition that are asked for at once, and held. */
const PAGE_EVENTS = 500

/** At most `limit` events: in order within a partition, and by time between partitions. */
export async function* readTopic(
  client: Client,
  topic: TopicDetail,
  { partition, from, limit }: TopicRead,
): AsyncGenerator<TopicEvent, void> {
  const bounds = topic.bounds.filter((bound) => partition === undefined || bound.partition === partition)
  if (partition !== undefined && bounds.length === 0) throw unknownPartition(topic, partition)
  const pageSize = Math.min(limit, PAGE_EVENTS)
  const readers = bounds.map(
    (bound) =>
      new PartitionReader(client, topic.name, {
        partition: bound.partition,
        from: typeof from === 'number' ? from : bound[from],
        head: bound.head,
        pageSize,
      }),
  )
  await Promise.all(readers.map((reader) => reader.fill()))
  for (let count = 0; count < limit; count++) {
    const earliest = readers.reduce(earlier)
    const event = earliest.shift()
    if (event === undefined) return
    yield event
    await earliest.fill()
  }
}

function earlier(best: PartitionReader, other: PartitionReader): PartitionReader {
  if (other.first === undefined) return best
  return best.first === undefined || other.first.time < best.first.time ? other : best
}

export function unknownPartition(topic: TopicDetail, partition: number): HeadraceError {
  return new HeadraceError('partition_unknown', `the topic ${topic.name} has no partition ${partition}`, {
    remedy: `choose one from 0 to ${topic.partitions - 1}`,
  })
}

/** The events of one partition, at most a page of them in memory. */
class PartitionReader {
  readonly #client: Client
  readonly #topic: string
  readonly #partition: number
  readonly #head: number
  readonly #pageSize: number
  #from: number
  #page: TopicEvent[] = []
  #index = 0

  constructor(
    client: Client,
    topic: string,
    place: { partition: number; from: number; head: number; pageSize: number },
  ) {
    this.#client = client
    this.#topic = topic
    this.#partition = place.partition
    this.#head = place.head
    this.#pageSize = place.pageSize
    this.#from = place.from
  }

  get first(): TopicEvent | undefined {
    return this.#page[this.#index]
  }

  shift(): TopicEvent | undefined {
    const event = this.first
    this.#index += 1
    return event
  }

  /** Reads the next page when this one is used up, up to the head that the topic had at the beginning. */
  async fill(): Promise<void> {
    if (this.first !== undefined || this.#from >= this.#head) return
    const limit = Math.min(this.#pageSize, this.#head - this.#from)
    const page = await this.#client.topics.read(this.#topic, {
      partition: this.#partition,
      from: this.#from,
      limit,
    })
    this.#page = page.events
    this.#index = 0
    this.#from = page.events.length === 0 ? this.#head : page.next
  }
}
