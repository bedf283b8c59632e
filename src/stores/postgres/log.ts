// The log: appends to one topic go together, one statement at a time, since they would wait for each other's heads anyway.
import { Batcher } from '../../batcher.ts'
import type { Clock } from '../../clock.ts'
import { assert } from '../../errors.ts'
import { fillPage } from '../../log/page.ts'
import { refuseGone, refuseOtherPartition, topicUnknown } from '../../log/refuse.ts'
import type {
  Appended,
  LogEvent,
  LogPage,
  LogStore,
  NewEvent,
  ReadRequest,
  TopicSettings,
  TopicStatus,
} from '../../log/store.ts'
import type { Hint, StoreContext } from '../../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import { OTHER, READ } from './pools.ts'
import { KEEP_MS, type Requests } from './requests.ts'
import type { KnownTopic, Topics } from './topics.ts'

export interface PostgresLogParts extends Pick<StoreContext, 'faults'> {
  connections: Connections
  topics: Topics
  requests: Requests
  clock: Clock
  hint(hint: Hint): void
}

const APPEND: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact' }
/** The most events that one statement appends, unless one call alone has more. */
const BATCH = 5000

export class PostgresLog implements LogStore {
  readonly #parts: PostgresLogParts
  readonly #batchers = new Map<number, Batcher<NewEvent[], Appended[]>>()

  constructor(parts: PostgresLogParts) {
    this.#parts = parts
  }

  open(settings: TopicSettings): Promise<void> {
    return this.#parts.topics.open(settings)
  }

  async append(name: string, events: NewEvent[]): Promise<Appended[]> {
    const topic = await this.#parts.topics.of(name)
    for (const { partition } of events) refuseOtherPartition(topic.settings, partition)
    return events.length === 0 ? [] : this.#batcherOf(topic).add(events)
  }

  async read(name: string, { from, limit, maxBytes }: ReadRequest): Promise<LogPage> {
    const topic = await this.#parts.topics.of(name)
    for (const { partition } of from) refuseOtherPartition(topic.settings, partition)
    const values = [
      topic.id,
      numberArray(from.map(({ partition }) => partition)),
      numberArray(from.map(({ offset }) => offset)),
      limit,
      maxBytes,
    ]
    const rows = await this.#parts.connections.query('read', values, READ)
    for (const { partition, offset } of from) {
      const row = rows.find((each) => each['partition'] === partition)
      if (row !== undefined) {
        refuseGone(name, offset, { partition, oldest: row['oldest'] as number, head: row['head'] as number })
      }
    }
    return fillPage(rows.filter((row) => row['event_offset'] !== null).map(toEvent), { limit, maxBytes })
  }

  topics(): Promise<TopicStatus[]> {
    return this.#statuses(null)
  }

  async topic(name: string): Promise<TopicStatus> {
    const [status] = await this.#statuses(name)
    if (status === undefined) throw topicUnknown(name)
    return status
  }

  async trim(name: string, limit: number): Promise<number> {
    const { id } = await this.#parts.topics.of(name)
    const [row] = await this.#parts.connections.query('trim', [id, limit], OTHER)
    return row?.['removed'] as number
  }

  async #statuses(name: string | null): Promise<TopicStatus[]> {
    const rows = await this.#parts.connections.query('topics', [name], READ)
    const statuses = new Map<string, TopicStatus>()
    for (const row of rows) {
      const settings = {
        name: row['name'] as string,
        partitions: row['partitions'] as number,
        retentionMs: row['retention_ms'] as number,
      }
      const status = statuses.get(settings.name) ?? { ...settings, bounds: [] }
      const [partition, oldest] = [row['partition'] as number, row['oldest'] as number]
      status.bounds.push({ partition, oldest, head: row['next'] as number })
      statuses.set(settings.name, status)
    }
    return [...statuses.values()]
  }

  #batcherOf(topic: KnownTopic): Batcher<NewEvent[], Appended[]> {
    let batcher = this.#batchers.get(topic.id)
    if (batcher === undefined) {
      batcher = new Batcher({
        clock: this.#parts.clock,
        size: BATCH,
        weigh: (events) => events.length,
        run: (calls) => this.#append(topic, calls),
      })
      this.#batchers.set(topic.id, batcher)
    }
    return batcher
  }

  async #append(topic: KnownTopic, calls: NewEvent[][]): Promise<Appended[][]> {
    const { connections, requests, faults } = this.#parts
    const events = calls.flat()
    const id = requests.next()
    const values = [
      topic.id,
      id,
      KEEP_MS,
      numberArray(events.map(({ partition }) => partition)),
      textArray(events.map((event) => event.id)),
      textArray(events.map(({ key }) => key)),
      textArray(events.map(({ value }) => value)),
      textArray(events.map(({ headers }) => headers)),
    ]
    faults.at('append.before-commit')
    const [row = await this.#recall(topic, id)] = await connections.query('append', values, APPEND)
    faults.at('append.after-commit')
    this.#parts.hint({ kind: 'appended', topic: topic.settings.name })
    const place = placer(row)
    return calls.map((call) => call.map(({ partition }) => place(partition)))
  }

  /** The first try was committed, and its answer was lost. */
  async #recall(topic: KnownTopic, id: string): Promise<Row> {
    const [row] = await this.#parts.connections.query('kept_answers', [topic.id, id], READ)
    assert(row !== undefined, 'an append that is known has an answer')
    return row
  }
}

/** Gives events their offsets, one by one, from the first of each partition on. */
function placer(row: Row): (partition: number) => Appended {
  const time = row['now'] as number
  const offsets = row['numbers'] as number[]
  const next = new Map(
    (row['notes'] as number[]).map((partition, index) => [partition, offsets[index] as number]),
  )
  return (partition) => {
    const offset = next.get(partition)
    assert(offset !== undefined, `partition ${partition} has a first offset`)
    next.set(partition, offset + 1)
    return { partition, offset, time }
  }
}

function toEvent(row: Row): LogEvent {
  return {
    id: row['id'] as string,
    key: row['key'] as string,
    partition: row['partition'] as number,
    value: row['value'] as string,
    headers: row['headers'] as string | null,
    offset: row['event_offset'] as number,
    time: row['time'] as number,
  }
}
