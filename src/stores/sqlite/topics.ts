// Topics and the bounds of their partitions, mirrored in memory: an append finds its offset without asking the
// file, and writes the new head in its own transaction, so offsets are contiguous.
import { topicUnknown } from '../../log/refuse.ts'
import type { StoredTopic, TopicStatus } from '../../log/store.ts'
import type { Database } from './database.ts'
import type { Mirror } from './work.ts'

interface Bounds {
  oldest: number
  next: number
}

export interface SqliteTopic {
  id: number
  settings: StoredTopic
  bounds: Bounds[]
}

export class Topics implements Mirror {
  readonly #database: Database
  #topics = new Map<string, SqliteTopic>()
  /** Changed partitions, and what they were before this transaction. */
  readonly #changed = new Map<Bounds, { topic: number; partition: number; before: Bounds }>()
  #added: string[] = []

  constructor(database: Database) {
    this.#database = database
  }

  find(name: string): SqliteTopic | undefined {
    return this.#topics.get(name)
  }

  of(name: string): SqliteTopic {
    const topic = this.#topics.get(name)
    if (topic === undefined) throw topicUnknown(name)
    return topic
  }

  all(): IterableIterator<SqliteTopic> {
    return this.#topics.values()
  }

  add(settings: StoredTopic): void {
    const { name, partitions, retentionMs } = settings
    const id = Number(
      this.#database.statement('add_topic').run(name, partitions, retentionMs).lastInsertRowid,
    )
    for (let partition = 0; partition < partitions; partition++)
      this.#database.statement('add_head').run(id, partition)
    const bounds = Array.from({ length: partitions }, () => ({ oldest: 0, next: 0 }))
    this.#topics.set(name, { id, settings, bounds })
    this.#added.push(name)
  }

  /** The bounds of a partition, to be changed in place by this transaction. */
  change(topic: SqliteTopic, partition: number): Bounds {
    const bounds = topic.bounds[partition] as Bounds
    if (!this.#changed.has(bounds))
      this.#changed.set(bounds, { topic: topic.id, partition, before: { ...bounds } })
    return bounds
  }

  refresh(): void {
    const topics = new Map<string, SqliteTopic>()
    const byId = new Map<number, SqliteTopic>()
    for (const row of this.#database.statement('all_topics').all() as unknown as TopicRow[]) {
      const settings = { name: row.name, partitions: row.partitions, retentionMs: row.retention_ms }
      const topic = { id: row.id, settings, bounds: [] }
      topics.set(row.name, topic)
      byId.set(row.id, topic)
    }
    for (const row of this.#database.statement('all_heads').all() as unknown as HeadRow[]) {
      byId.get(row.topic)?.bounds.push({ oldest: row.oldest, next: row.next })
    }
    this.#topics = topics
  }

  flush(): void {
    for (const [bounds, { topic, partition }] of this.#changed) {
      this.#database.statement('save_head').run(bounds.oldest, bounds.next, topic, partition)
    }
  }

  committed(): void {
    this.#changed.clear()
    this.#added = []
  }

  rolledBack(): void {
    for (const [bounds, { before }] of this.#changed) Object.assign(bounds, before)
    for (const name of this.#added) this.#topics.delete(name)
    this.committed()
  }
}

interface TopicRow {
  id: number
  name: string
  partitions: number
  retention_ms: number
}

interface HeadRow {
  topic: number
  oldest: number
  next: number
}

export function statusOf({ settings, bounds }: SqliteTopic): TopicStatus {
  return {
    ...settings,
    bounds: bounds.map(({ oldest, next }, partition) => ({ partition, oldest, head: next })),
  }
}
