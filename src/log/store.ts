// The port of a log's store: topics of partitions of events. Rules in brackets are those of docs/spec/log.md.

export interface TopicSettings {
  name: string
  partitions: number
  /**
   * Events older than this may be removed. Null leaves what the store holds; a new topic gets
   * `FIRST_RETENTION_MS`.
   */
  retentionMs: number | null
}

/** Seven days. */
export const FIRST_RETENTION_MS = 604_800_000

/** A topic as the store holds it. */
export interface StoredTopic extends TopicSettings {
  retentionMs: number
}

/** An event to append. `value` and `headers` are JSON text. */
export interface NewEvent {
  id: string
  key: string
  partition: number
  value: string
  headers: string | null
}

export interface LogEvent extends NewEvent {
  offset: number
  /** The store's clock in the appending transaction. [L6] */
  time: number
}

export interface Appended {
  partition: number
  offset: number
  time: number
}

/** The bounds of one partition: offsets in [oldest, head) can be read. */
export interface PartitionBounds {
  partition: number
  oldest: number
  head: number
}

export interface TopicStatus extends StoredTopic {
  bounds: PartitionBounds[]
}

export interface ReadRequest {
  partition: number
  from: number
  limit: number
}

export interface LogStore {
  /** Creates the topic, or refuses another number of partitions with `topic_mismatch`. [L1] */
  open(settings: TopicSettings): Promise<void>
  /** Appends all or nothing, durably; offsets are contiguous per partition, in the order given. [L2] [L3] */
  append(topic: string, events: NewEvent[]): Promise<Appended[]>
  /** Events from an offset on, in order, without gaps; at most `limit`. Below the oldest: `offset_gone`. [L4] [L5] */
  read(topic: string, request: ReadRequest): Promise<LogEvent[]>
  /** Every topic with its bounds. */
  topics(): Promise<TopicStatus[]>
  /** One topic, or `topic_unknown`. [L1] */
  topic(name: string): Promise<TopicStatus>
  /** Removes up to `limit` events older than the topic's retention; answers how many. [L5] */
  trim(topic: string, limit: number): Promise<number>
}
