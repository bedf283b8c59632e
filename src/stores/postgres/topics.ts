// The topics that this opening of the store knows. A topic is never removed and its partitions are fixed, so what was once
// found stays, unless the store goes back.
import { assert } from '../../errors.ts'
import { refuseOtherTopic, topicUnknown } from '../../log/refuse.ts'
import { FIRST_RETENTION_MS, type TopicSettings } from '../../log/store.ts'
import { textArray } from './arrays.ts'
import type { Call, Connections, Row } from './connections.ts'
import type { Ask, Numbered } from './life.ts'
import { READ } from './pools.ts'
import type { Queries } from './queries.ts'

export interface KnownTopic {
  id: number
  settings: TopicSettings
}

const OPEN: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact' }

export class Topics implements Numbered {
  readonly #connections: Connections
  readonly #queries: Queries
  readonly #topics = new Map<string, KnownTopic>()
  #count = 0
  /** The settings of those that were opened here. */
  readonly #opened = new Map<string, TopicSettings>()

  constructor(connections: Connections, queries: Queries) {
    this.#connections = connections
    this.#queries = queries
  }

  get count(): number {
    return this.#count
  }

  async open(settings: TopicSettings): Promise<void> {
    await this.#connections.query('open_topic', valuesOf(settings), OPEN)
    refuseOtherTopic((await this.of(settings.name)).settings, settings)
    this.#opened.set(settings.name, settings)
  }

  async of(name: string): Promise<KnownTopic> {
    for (;;) {
      const known = this.#topics.get(name)
      if (known !== undefined) return known
      const { life } = this.#queries
      const [row] = await this.#connections.query('find_topic', [name], READ)
      // A number of another life is no topic's, or another's.
      if (life !== this.#queries.life) continue
      if (row === undefined) throw topicUnknown(name)
      const topic = toTopic(row)
      assert(Number.isInteger(topic.id), 'a topic has a number')
      this.#topics.set(name, topic)
      this.#count += 1
    }
  }

  /** Those that the store has lost, and that were opened here, are created again. [Y22] */
  async renumber(ask: Ask): Promise<() => boolean> {
    const names = textArray([...this.#topics.keys()])
    const isThere = new Set((await ask('topics_named', [names])).map((row) => row['name']))
    for (const [name, settings] of this.#opened)
      if (!isThere.has(name)) await ask('open_topic', valuesOf(settings))
    const rows = await ask('topics_named', [names])
    const found = new Map(rows.map((row) => [row['name'] as string, toTopic(row)]))
    return () => {
      const before = [...this.#topics]
      const numbers = new Map(before.map(([name, { id }]) => [name, id]))
      for (const [name, topic] of before) {
        const { id, settings } = found.get(name) ?? { id: GONE, settings: topic.settings }
        const isSame = settings.partitions === topic.settings.partitions
        if (id === GONE || !isSame) this.#topics.delete(name)
        topic.id = isSame ? id : GONE
      }
      return before.some(([name, topic]) => !this.#topics.has(name) || topic.id !== numbers.get(name))
    }
  }
}

/** The number of no topic. */
const GONE = -1

function valuesOf({ name, partitions, retentionMs }: TopicSettings): unknown[] {
  return [name, partitions, retentionMs, FIRST_RETENTION_MS]
}

function toTopic(row: Row): KnownTopic {
  const settings = { name: row['name'] as string, partitions: row['partitions'] as number, retentionMs: null }
  return { id: row['id'] as number, settings }
}
