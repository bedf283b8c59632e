// The log: events in a table clustered by topic, partition and offset.
import { fillPage } from '../../log/page.ts'
import { refuseGone, refuseOtherPartition, refuseOtherTopic } from '../../log/refuse.ts'
import {
  type Appended,
  FIRST_RETENTION_MS,
  type LogEvent,
  type LogPage,
  type LogStore,
  type NewEvent,
  type Position,
  type ReadRequest,
  type TopicSettings,
  type TopicStatus,
} from '../../log/store.ts'
import type { Hint } from '../../store.ts'
import type { Database } from './database.ts'
import { RecentEvents } from './recent-events.ts'
import type { Session } from './session.ts'
import type { Transaction } from './work.ts'
import { type SqliteTopic, type Topics, statusOf } from './topics.ts'

export interface SqliteLogParts {
  database: Database
  session: Session
  topics: Topics
  hint(hint: Hint): void
}

/** How many rows are read at once; each may have 1 MiB. */
const ROWS = 16

export class SqliteLog implements LogStore {
  readonly #parts: SqliteLogParts
  /** By topic. */
  readonly #recent = new Map<number, RecentEvents>()

  constructor(parts: SqliteLogParts) {
    this.#parts = parts
  }

  open(settings: TopicSettings): Promise<void> {
    return this.#parts.session.write('other', (tx) => {
      const { topics, database } = this.#parts
      const existing = topics.find(settings.name)
      if (existing === undefined) {
        topics.add({ ...settings, retentionMs: settings.retentionMs ?? FIRST_RETENTION_MS })
        return
      }
      refuseOtherTopic(existing.settings, settings)
      const retentionMs = settings.retentionMs ?? existing.settings.retentionMs
      if (retentionMs === existing.settings.retentionMs) return
      database.statement('save_retention').run(retentionMs, existing.id)
      tx.afterCommit(() => {
        existing.settings = { ...existing.settings, retentionMs }
      })
    })
  }

  append(name: string, events: NewEvent[]): Promise<Appended[]> {
    return this.#parts.session.write('append', (tx) => {
      const appended = this.appendIn(tx, this.#parts.topics.of(name), events)
      return appended.map(({ partition, offset, time }) => ({ partition, offset, time }))
    })
  }

  /** Appends in a transaction that the caller has open. */
  appendIn(tx: Transaction, topic: SqliteTopic, events: NewEvent[]): LogEvent[] {
    for (const { partition } of events) refuseOtherPartition(topic.settings, partition)
    const statement = this.#parts.database.statement('add_event')
    const appended = events.map(({ partition, id, key, value, headers }): LogEvent => {
      const offset = this.#parts.topics.change(topic, partition).next++
      statement.run(topic.id, partition, offset, id, key, value, headers, tx.now)
      return { partition, offset, id, key, value, headers, time: tx.now }
    })
    if (events.length > 0) tx.afterCommit(() => this.#announce(topic, appended))
    return appended
  }

  #announce(topic: SqliteTopic, events: LogEvent[]): void {
    const recent = this.#recentOf(topic)
    for (const event of events) recent.add(event)
    this.#parts.hint({ kind: 'appended', topic: topic.settings.name })
  }

  #recentOf({ id, settings }: SqliteTopic): RecentEvents {
    let recent = this.#recent.get(id)
    if (recent === undefined) this.#recent.set(id, (recent = new RecentEvents(settings.partitions)))
    return recent
  }

  async read(name: string, { from, ...bounds }: ReadRequest): Promise<LogPage> {
    return this.#parts.session.read(() => {
      const topic = this.#parts.topics.of(name)
      for (const { partition, offset } of from) {
        refuseOtherPartition(topic.settings, partition)
        const { oldest, next } = boundsOf(topic, partition)
        refuseGone(name, offset, { partition, oldest, head: next })
      }
      return fillPage(this.#eventsFrom(topic, from, bounds.limit), bounds)
    })
  }

  *#eventsFrom(topic: SqliteTopic, from: readonly Position[], limit: number): Iterable<LogEvent> {
    const recent = this.#recentOf(topic)
    for (const { partition, offset: first } of from) {
      const end = Math.min(boundsOf(topic, partition).next, first + limit + 1)
      for (let next = first; next < end;) {
        const event = recent.at(partition, next)
        const events = event === undefined ? this.#rows(topic, partition, next, end) : [event]
        if (events.length === 0) break
        yield* events
        next += events.length
      }
    }
  }

  /** A few at a time, so that a page that ends early has not read the rest; one at a time costs twice as much. */
  #rows(topic: SqliteTopic, partition: number, from: number, end: number): LogEvent[] {
    const statement = this.#parts.database.statement('read_events')
    const rows = statement.all(topic.id, partition, from, Math.min(ROWS, end - from))
    return (rows as unknown as LogEvent[]).map(({ offset, id, key, value, headers, time }) => {
      return { partition, offset, id, key, value, headers, time }
    })
  }

  async topics(): Promise<TopicStatus[]> {
    return this.#parts.session.read(() => [...this.#parts.topics.all()].map(statusOf))
  }

  async topic(name: string): Promise<TopicStatus> {
    return this.#parts.session.read(() => statusOf(this.#parts.topics.of(name)))
  }

  trim(name: string, limit: number): Promise<number> {
    return this.#parts.session.write('other', ({ now }) => {
      const topic = this.#parts.topics.of(name)
      const before = now - topic.settings.retentionMs
      let removed = 0
      for (let partition = 0; partition < topic.settings.partitions && removed < limit; partition++) {
        removed += this.#trimPartition(topic, partition, before, limit - removed)
      }
      return removed
    })
  }

  #trimPartition(topic: SqliteTopic, partition: number, before: number, limit: number): number {
    const rows = this.#parts.database.statement('oldest_times').all(topic.id, partition, limit)
    const kept = rows.findIndex((row) => (row['time'] as number) >= before)
    const removed = kept === -1 ? rows.length : kept
    if (removed === 0) return 0
    const bounds = this.#parts.topics.change(topic, partition)
    bounds.oldest += removed
    this.#parts.database.statement('trim_events').run(topic.id, partition, bounds.oldest)
    return removed
  }
}

function boundsOf({ bounds }: SqliteTopic, partition: number): { oldest: number; next: number } {
  return bounds[partition] as { oldest: number; next: number }
}
