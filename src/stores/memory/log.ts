// Topics in memory: an array per partition.
import type { Clock } from '../../clock.ts'
import { fillPage } from '../../log/page.ts'
import { refuseGone, refuseOtherPartition, refuseOtherTopic, topicUnknown } from '../../log/refuse.ts'
import {
  type Appended,
  FIRST_RETENTION_MS,
  type LogEvent,
  type LogPage,
  type LogStore,
  type NewEvent,
  type PartitionBounds,
  type Position,
  type ReadRequest,
  type StoredTopic,
  type TopicSettings,
  type TopicStatus,
} from '../../log/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { Keep } from './snapshots.ts'

interface Partition {
  oldest: number
  events: LogEvent[]
}

interface MemoryTopic {
  settings: StoredTopic
  partitions: Partition[]
}

export class MemoryLog implements LogStore {
  readonly #topics = new Map<string, MemoryTopic>()
  readonly #clock: Clock
  readonly #commit: Commit
  readonly #hint: (hint: Hint) => void

  constructor({ clock, commit, hint }: { clock: Clock; commit: Commit; hint: (hint: Hint) => void }) {
    this.#clock = clock
    this.#commit = commit
    this.#hint = hint
  }

  async open(settings: TopicSettings): Promise<void> {
    const existing = this.#topics.get(settings.name)
    if (existing !== undefined) {
      refuseOtherTopic(existing.settings, settings)
      existing.settings.retentionMs = settings.retentionMs ?? existing.settings.retentionMs
      return
    }
    const partitions = Array.from({ length: settings.partitions }, () => ({ oldest: 0, events: [] }))
    const retentionMs = settings.retentionMs ?? FIRST_RETENTION_MS
    this.#topics.set(settings.name, { settings: { ...settings, retentionMs }, partitions })
  }

  async append(topic: string, events: NewEvent[]): Promise<Appended[]> {
    return this.#commit('append', () => this.appendNow(topic, events, this.#clock.now()))
  }

  /** Appends with a time that the caller read, in the caller's own synchronous step. */
  appendNow(name: string, events: NewEvent[], time: number): Appended[] {
    const topic = this.#of(name)
    for (const event of events) refuseOtherPartition(topic.settings, event.partition)
    const appended = events.map((event) => {
      const partition = topic.partitions[event.partition] as Partition
      const offset = partition.oldest + partition.events.length
      partition.events.push({ ...event, offset, time })
      return { partition: event.partition, offset, time }
    })
    if (events.length > 0) this.#hint({ kind: 'appended', topic: name })
    return appended
  }

  async read(name: string, { from, ...bounds }: ReadRequest): Promise<LogPage> {
    const topic = this.#of(name)
    for (const { partition, offset } of from) {
      refuseOtherPartition(topic.settings, partition)
      const { oldest, events } = topic.partitions[partition] as Partition
      refuseGone(name, offset, { partition, oldest, head: oldest + events.length })
    }
    return fillPage(eventsFrom(topic, from), bounds)
  }

  async topics(): Promise<TopicStatus[]> {
    return [...this.#topics.values()].map(statusOf)
  }

  async topic(name: string): Promise<TopicStatus> {
    return statusOf(this.#of(name))
  }

  async trim(name: string, limit: number): Promise<number> {
    const topic = this.#of(name)
    const before = this.#clock.now() - topic.settings.retentionMs
    let removed = 0
    for (const partition of topic.partitions) {
      while (removed < limit && (partition.events[0]?.time ?? before) < before) {
        partition.events.shift()
        partition.oldest += 1
        removed += 1
      }
    }
    return removed
  }

  /** Topics stay open that were opened since, and are empty. */
  readonly snapshot: Keep = () => {
    const kept = new Map([...this.#topics].map(([name, { partitions }]) => [name, copyOf(partitions)]))
    return () => {
      for (const [name, topic] of this.#topics) {
        const empty = topic.partitions.map(() => ({ oldest: 0, events: [] }))
        topic.partitions = copyOf(kept.get(name) ?? empty)
      }
    }
  }

  settingsOf(name: string): TopicSettings {
    return this.#of(name).settings
  }

  #of(name: string): MemoryTopic {
    const topic = this.#topics.get(name)
    if (topic === undefined) throw topicUnknown(name)
    return topic
  }
}

function copyOf(partitions: readonly Partition[]): Partition[] {
  return partitions.map(({ oldest, events }) => ({ oldest, events: [...events] }))
}

function* eventsFrom({ partitions }: MemoryTopic, from: readonly Position[]): Iterable<LogEvent> {
  for (const { partition, offset } of from) {
    const { oldest, events } = partitions[partition] as Partition
    for (let index = offset - oldest; index < events.length; index++) yield events[index] as LogEvent
  }
}

function statusOf({ settings, partitions }: MemoryTopic): TopicStatus {
  const bounds = partitions.map(({ oldest, events }, partition): PartitionBounds => {
    return { partition, oldest, head: oldest + events.length }
  })
  return { ...settings, bounds }
}
