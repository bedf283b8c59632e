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

/** Where a reader is in one partition: the next event that it wants. */
export interface Position {
  partition: number
  offset: number
}

export interface ReadRequest {
  /** The partitions are read one after the other, in this order. */
  from: readonly Position[]
  /** The most events, of all partitions together. */
  limit: number
  /** The most bytes of their texts, of all partitions together; an event that is larger comes alone. */
  maxBytes: number
}

export interface LogPage {
  events: LogEvent[]
  /** The bounds of the request ended it, and not the heads of the partitions. */
  more: boolean
}

export interface LogStore {
  /** Creates the topic, or refuses another number of partitions with `topic_mismatch`. [L1] */
  open(settings: TopicSettings): Promise<void>
  /** Appends all or nothing, durably; offsets are contiguous per partition, in the order given. [L2] [L3] */
  append(topic: string, events: NewEvent[]): Promise<Appended[]>
  /**
   * Events from each position on, in order, without gaps, on one snapshot; bounded in number and bytes, and at
   * least one if there is any. Below the oldest of a partition: `offset_gone`. [L4] [L5]
   */
  read(topic: string, request: ReadRequest): Promise<LogPage>
  /** Every topic with its bounds. */
  topics(): Promise<TopicStatus[]>
  /** One topic, or `topic_unknown`. [L1] */
  topic(name: string): Promise<TopicStatus>
  /** Removes up to `limit` events older than the topic's retention; answers how many. [L5] */
  trim(topic: string, limit: number): Promise<number>
}
