// The topics that this opening of the store knows. A topic is never removed and its partitions are fixed, so what was once
// found stays.
import { assert } from '../../errors.ts'
import { refuseOtherTopic, topicUnknown } from '../../log/refuse.ts'
import { FIRST_RETENTION_MS, type TopicSettings } from '../../log/store.ts'
import type { Call, Connections } from './connections.ts'
import { READ } from './pools.ts'

export interface KnownTopic {
  id: number
  settings: TopicSettings
}

const OPEN: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact' }

export class Topics {
  readonly #connections: Connections
  readonly #topics = new Map<string, KnownTopic>()

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async open(settings: TopicSettings): Promise<void> {
    const { name, partitions, retentionMs } = settings
    await this.#connections.query('open_topic', [name, partitions, retentionMs, FIRST_RETENTION_MS], OPEN)
    refuseOtherTopic((await this.of(name)).settings, settings)
  }

  async of(name: string): Promise<KnownTopic> {
    const known = this.#topics.get(name)
    if (known !== undefined) return known
    const [row] = await this.#connections.query('find_topic', [name], READ)
    if (row === undefined) throw topicUnknown(name)
    const settings = { name, partitions: row['partitions'] as number, retentionMs: null }
    const topic = { id: row['id'] as number, settings }
    assert(Number.isInteger(topic.id), 'a topic has a number')
    this.#topics.set(name, topic)
    return topic
  }
}
