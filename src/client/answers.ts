// What the server answers, as JSON gives it: times are RFC 3339 text. The server's openapi.json says the same.
import type { PoolDetail } from './pool-answers.ts'

/** A tick that waits. */
export interface TickView {
  item: string
  at: string
  dueAt: string
  state: 'waiting' | 'due' | 'backing-off' | 'dead'
  payload?: unknown
  tally: number
  partition: number
  putAt: string
}

/** What a put or a move of a tick did. */
export interface TickAnswer {
  item: string
  at: string
  result: string
}

export interface TickCancelled {
  item: string
  /** How many were removed before they were due. */
  cancelled: number
  /** How many were removed when they were due already: a run may be on its way. */
  due: number
}

export interface Page<Item> {
  items: Item[]
  /** Where the next page begins; null: there is none. */
  next: string | null
}

export interface TopicView {
  name: string
  partitions: number
  retentionMs: number
  events: number
}

/** Offsets in [oldest, head) can be read. */
export interface BoundsView {
  partition: number
  oldest: number
  head: number
}

export interface TopicDetail extends TopicView {
  bounds: BoundsView[]
}

export interface TopicEvent<Value = unknown> {
  partition: number
  offset: number
  id: string
  key: string
  value: Value
  headers: Record<string, unknown> | null
  time: string
}

export interface EventPage<Value = unknown> {
  events: TopicEvent<Value>[]
  /** The offset to go on from. */
  next: number
}

/** A pool, and what the worker of the server's process has under way; null: it has none. */
export interface PoolStatusView extends PoolDetail {
  work: { running: number; concurrency: number } | null
}

export interface StatusView {
  version: string
  member: string
  store: string
  uptimeMs: number
  services: { name: string; state: string }[]
  /** Null: there are none in its store. */
  ticks: { mode: 'each' | 'one'; partitions: number; counts: Record<string, number> } | null
  pools: PoolStatusView[]
  /** How many pools there are. */
  poolsTotal: number
  topics: TopicView[]
  /** This member's part in the roster, as of its last pulse. */
  roster: {
    joined: boolean
    id: string
    name: string
    leader: { member: string; name: string | null; term: number } | null
    shares: { resource: string; partitions: number; held: number }[]
  }
}

/** An error as the server sends it (RFC 9457). */
export interface Problem {
  type?: string
  title?: string
  status?: number
  detail?: string
  code?: string
  remedy?: string | null
  retryable?: boolean
  instance?: string
  errors?: { path: string; message: string }[]
}
