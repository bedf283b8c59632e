// A topic of the store under test, with the short calls that contract cases are written in.
import type {
  Appended,
  LogEvent,
  LogPage,
  NewEvent,
  PartitionBounds,
  Position,
  TopicSettings,
} from '../log/store.ts'
import type { Store } from '../store.ts'
import { MANY } from './pool-driver.ts'

export const DAY = 86_400_000

export async function openTopic(store: Store, given: Partial<TopicSettings> = {}): Promise<TopicDriver> {
  const settings = { name: 'events', partitions: 2, retentionMs: 7 * DAY, ...given }
  await store.log.open(settings)
  return new TopicDriver(store, settings)
}

export function asEvent(id: string, partition: number): NewEvent {
  return { id, key: `key of ${id}`, partition, value: `{"id":${JSON.stringify(id)}}`, headers: null }
}

export class TopicDriver {
  readonly settings: TopicSettings
  readonly #store: Store

  constructor(store: Store, settings: TopicSettings) {
    this.#store = store
    this.settings = settings
  }

  /** Appends events with these ids to one partition, in one call. */
  append(partition: number, ...ids: string[]): Promise<Appended[]> {
    return this.appendAll(ids.map((id) => asEvent(id, partition)))
  }

  appendAll(events: NewEvent[]): Promise<Appended[]> {
    return this.#store.log.append(this.settings.name, events)
  }

  async read(partition: number, from = 0, limit = MANY): Promise<LogEvent[]> {
    return (await this.readPage([{ partition, offset: from }], { limit })).events
  }

  readPage(from: Position[], { limit = MANY, maxBytes = Infinity }): Promise<LogPage> {
    return this.#store.log.read(this.settings.name, { from, limit, maxBytes })
  }

  /** Every event of every partition, one partition after the other, from its oldest on. */
  async readAll(): Promise<LogEvent[]> {
    const pages = (await this.bounds()).map(({ partition, oldest }) => this.read(partition, oldest))
    return (await Promise.all(pages)).flat()
  }

  async bounds(): Promise<PartitionBounds[]> {
    return (await this.#store.log.topic(this.settings.name)).bounds
  }

  trim(limit = MANY): Promise<number> {
    return this.#store.log.trim(this.settings.name, limit)
  }
}
