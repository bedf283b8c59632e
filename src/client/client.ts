// The typed HTTP client, exported as `headrace/client`: ticks, topics, the roster and the state of a server. Errors are
// HeadraceErrors with the server's own code and remedy.
import '../check-floor.ts'
import { checkOptions, optionTable } from '../check-options.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import { maskAddress } from '../mask.ts'
import type {
  EventPage,
  Page,
  StatusView,
  TickAnswer,
  TickCancelled,
  TickView,
  TopicDetail,
  TopicEvent,
  TopicView,
} from './answers.ts'
import { type FollowOptions, followServer, followTopic } from './follow.ts'
import type {
  MeterQuery,
  MeterView,
  StreamedView,
  VerdictView,
  WhyQuery,
  WhyView,
} from './insight-answers.ts'
import { type PoolsClient, createPoolsClient } from './pools.ts'
import { type RosterClient, createRosterClient } from './roster.ts'
import type { DoctorView, LockView } from './roster-answers.ts'
import { type Call, type Caller, type TransportParts, callJson } from './transport.ts'

export { ERROR_CODES, type ErrorCode, HeadraceError } from '../errors.ts'
export type * from './answers.ts'
export type * from './insight-answers.ts'
export type * from './pool-answers.ts'
export type {
  DeadChoice,
  DeadFilter,
  DeadQuery,
  EntriesQuery,
  AddTerms,
  NewEntry,
  NewLimit,
  NewLimits,
  NewPause,
  NewPool,
  PoolClient,
  PoolsClient,
  PutOptions,
} from './pools.ts'
export type { FollowOptions } from './follow.ts'
export type { RebalanceQuery, RosterClient } from './roster.ts'
export type * from './roster-answers.ts'

/** Options of `createClient`. */
export interface ClientOptions {
  /** Address of the server; default http://127.0.0.1:7400. */
  server?: string
  token?: string | undefined
  /** How long a request may take; at most a minute, default 30 s. */
  timeout?: Duration
  /** Ends every request under way. */
  signal?: AbortSignal
  clock?: Clock
}

/** What goes into a query or a body is refused by the server; here is what stays on this side. */
const CLIENT = optionTable<ClientOptions>('a client', {
  server: 'text',
  token: 'text',
  timeout: 'duration',
  signal: 'signal',
  clock: 'object',
})
const ADD = optionTable<AddOptions>('adding a tick', { idempotencyKey: 'text' })
const READ = optionTable<ReadQuery>('reading a topic', { partition: null, from: null, limit: null })
const FOLLOW = optionTable<FollowQuery>('following a topic', {
  partition: null,
  from: null,
  signal: 'signal',
  onLost: 'function',
})
const STREAM = optionTable<FollowOptions>('a stream', { signal: 'signal', onLost: 'function' })
const MOVE = optionTable<{ from: string | null; to: string }>('moving a tick', { from: null, to: null })

export const DEFAULT_SERVER = 'http://127.0.0.1:7400'

export type ConflictRule = 'earliest' | 'replace' | 'keep' | 'reject'

export interface NewTick {
  item: string
  /** A Date, RFC 3339 text or milliseconds since 1970. */
  at: Date | string | number
  payload?: unknown
  /** Only where an item has one tick (`--ticks-mode one`). */
  onConflict?: ConflictRule | undefined
}

export interface TickQuery {
  item?: string | undefined
  state?: TickView['state'] | undefined
  /** Due at or after. */
  from?: string | undefined
  /** Due before. */
  before?: string | undefined
  limit?: number | undefined
  after?: string | undefined
}

export interface AddOptions {
  /** The same key and body again answer what the first did. */
  idempotencyKey?: string
}

export interface ReadQuery {
  partition: number
  /** An offset; default: the oldest event. */
  from?: number | undefined
  limit?: number | undefined
}

export interface FollowQuery extends FollowOptions {
  /** One partition; default: the whole topic. */
  partition?: number | undefined
  /** `oldest`, `head` or, of one partition, an offset. */
  from?: 'oldest' | 'head' | number | undefined
}

export interface Client {
  ticks: TicksClient
  pools: PoolsClient
  topics: TopicsClient
  roster: RosterClient
  status(): Promise<StatusView>
  /** How the server is doing, in one sentence with findings. */
  verdict(): Promise<VerdictView>
  /** The numbers of its work. */
  meter(query?: MeterQuery): Promise<MeterView>
  /** The meter and the verdict as they come, each once a second; after a lost connection from then on. */
  stream(options?: FollowOptions): AsyncGenerator<StreamedView, void>
  /** Why a key does not run yet. */
  why(key: string, query?: WhyQuery): Promise<WhyView>
  /** Named locks that are held. */
  locks(): Promise<{ items: LockView[] }>
  /** What the server finds of itself, its store and the roster. */
  doctor(): Promise<DoctorView>
}

export interface TicksClient {
  add(tick: NewTick, options?: AddOptions): Promise<TickAnswer>
  /** Adds all or none. */
  addAll(ticks: NewTick[], options?: AddOptions): Promise<TickAnswer[]>
  /** The tick of an item and a time, or `tick_unknown`. */
  get(item: string, at: string): Promise<TickView>
  /** Every tick of an item, or `tick_unknown`. */
  getAll(
    item: string,
    page?: { limit?: number | undefined; after?: string | undefined },
  ): Promise<Page<TickView>>
  list(query?: TickQuery): Promise<Page<TickView>>
  /** Cancels one tick, or all of an item. */
  cancel(item: string, at?: string): Promise<TickCancelled>
  /** Moves a tick; `from` may be null where an item has one tick. */
  move(item: string, change: { from: string | null; to: string }): Promise<TickAnswer>
}

export interface TopicsClient {
  list(): Promise<{ items: TopicView[] }>
  get(topic: string): Promise<TopicDetail>
  read<Value = unknown>(topic: string, query: ReadQuery): Promise<EventPage<Value>>
  follow<Value = unknown>(topic: string, query?: FollowQuery): AsyncGenerator<TopicEvent<Value>, void>
}

/** A client of the HTTP API: `createClient({ server, token })`. No request is sent before the first call. */
export function createClient(options: ClientOptions = {}): Client {
  checkOptions(options, CLIENT)
  const transport: TransportParts = {
    server: checkServer(options.server ?? DEFAULT_SERVER),
    token: options.token ?? null,
    timeoutMs: toMs(options.timeout ?? '30s'),
    clock: options.clock ?? systemClock,
    signal: options.signal ?? null,
  }
  const call = async <Answer>(request: Call): Promise<Answer> =>
    (await callJson(transport, request)) as Answer
  return {
    ticks: createTicksClient(call),
    pools: createPoolsClient(call, transport),
    topics: createTopicsClient(call, transport),
    roster: createRosterClient(call),
    status: () => call({ path: '/v1/status' }),
    verdict: () => call({ path: '/v1/verdict' }),
    meter: (query = {}) => call({ path: '/v1/meter', query: { ...query } }),
    stream(stream = {}) {
      checkOptions(stream, STREAM)
      const { signal, onLost } = stream
      const call = { path: '/v1/stream' }
      return followServer({ transport, call, signal: signal ?? transport.signal, onLost })
    },
    why: (key, query = {}) => call({ path: '/v1/why', query: { key, ...query } }),
    locks: () => call({ path: '/v1/locks' }),
    doctor: () => call({ path: '/v1/doctor' }),
  }
}

function createTicksClient(call: Caller): TicksClient {
  const path = (item: string): string => `/v1/ticks/${encodeURIComponent(item)}`
  const post = async <Answer>(body: unknown, options: AddOptions): Promise<Answer> => {
    checkOptions(options, ADD)
    const { idempotencyKey } = options
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return call({ method: 'POST', path: '/ticks', body, headers })
  }
  return {
    add: (tick, options = {}) => post(tick, options),
    addAll: (ticks, options = {}) => post(ticks, options),
    get: (item, at) => call({ path: path(item), query: { at } }),
    getAll: (item, page = {}) => call({ path: path(item), query: page }),
    list: ({ from, before, ...query } = {}) =>
      call({ path: '/v1/ticks', query: { ...query, 'due.from': from, 'due.before': before } }),
    cancel: (item, at) => call({ method: 'DELETE', path: path(item), query: { at } }),
    async move(item, change) {
      checkOptions(change, MOVE)
      const { from, to } = change
      return call({ method: 'PATCH', path: path(item), query: { at: from ?? undefined }, body: { at: to } })
    },
  }
}

function createTopicsClient(call: Caller, transport: TransportParts): TopicsClient {
  const path = (topic: string): string => `/v1/topics/${encodeURIComponent(topic)}`
  const events = (topic: string, partition: number | undefined): string =>
    partition === undefined ? `${path(topic)}/events` : `${path(topic)}/partitions/${partition}/events`
  return {
    list: () => call({ path: '/v1/topics' }),
    get: (topic) => call({ path: path(topic) }),
    async read<Value>(topic: string, query: ReadQuery) {
      checkOptions(query, READ)
      const { partition, from, limit } = query
      const page = await call<EventPage<Value>>({
        path: events(topic, partition),
        query: { from, limit },
      })
      return { ...page, events: page.events.map((event) => Object.assign({ partition }, event)) }
    },
    follow(topic, query = {}) {
      checkOptions(query, FOLLOW)
      const { partition, from, signal, onLost } = query
      return followTopic({
        transport,
        call: { path: events(topic, partition), query: { from } },
        signal: signal ?? transport.signal,
        onLost,
      })
    },
  }
}

function checkServer(server: string): string {
  const url = URL.parse(server)
  const shown = JSON.stringify(maskAddress(server))
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new HeadraceError('invalid_options', `the server ${shown} is no http address`, {
      remedy: `write it as ${DEFAULT_SERVER}`,
    })
  }
  // fetch refuses it, in words that hold all of it.
  if (url.username !== '' || url.password !== '') {
    throw new HeadraceError('invalid_options', `the server ${shown} has a user or password`, {
      remedy: 'give the address alone, and the token by HEADRACE_TOKEN or --token-file',
    })
  }
  return server.replace(/\/+$/, '')
}
