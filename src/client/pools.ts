// The part of the client that speaks of pools.
import type { Page } from './answers.ts'
import { type FollowOptions, followEntry } from './follow.ts'
import type {
  DeadGroupView,
  DeadView,
  EntryCancelled,
  EntryView,
  LimitsView,
  PausedView,
  PoolDetail,
  PutAnswer,
} from './pool-answers.ts'
import type { Caller, TransportParts } from './transport.ts'

export interface PoolsClient {
  list(): Promise<{ items: PoolDetail[]; total: number }>
  /** Makes a pool, or finds it as it is asked for; other settings are a `pool_mismatch`. */
  make(pool: string, settings?: NewPool): Promise<PoolDetail>
  /** A pool by name; nothing is asked of the server yet. */
  of(pool: string): PoolClient
}

export interface NewPool {
  mode?: 'one' | 'each' | undefined
  partitions?: number | undefined
  /** Such as `10m`, or milliseconds. */
  remember?: string | number | undefined
  deadFor?: string | number | undefined
  /** Its entries go in the lane `fanout` unless their put names one. Fixed. */
  fansOut?: boolean | undefined
  /** The least time from the end of a run to the next run of its key, in mode `one`. */
  throttle?: string | number | undefined
  /** `all`: a run sees the payload of every put that it stands for, in mode `one`. Fixed. */
  payloads?: 'latest' | 'all' | undefined
}

export interface NewPause {
  /** Who pauses it. */
  by?: string | undefined
  reason?: string | undefined
  /** When it ends by itself: a Date, RFC 3339 text or milliseconds since 1970. */
  until?: Date | string | number | undefined
}

/** What is left out stays as it is; null lifts it. */
export interface NewLimits {
  /** For each group by itself. */
  group?: NewLimit | null | undefined
  /** For the pool as a whole. */
  pool?: NewLimit | null | undefined
}

export interface NewLimit {
  concurrency?: number | null | undefined
  /** `per` such as `1s`, or milliseconds. */
  rate?: { count: number; per: string | number } | null | undefined
}

export interface NewEntry {
  key: string
  /** When it is due: a Date, RFC 3339 text or milliseconds since 1970; now unless said. */
  at?: Date | string | number | undefined
  payload?: unknown
  lane?: EntryView['lane'] | undefined
  group?: string | undefined
  onConflict?: 'earliest' | 'replace' | 'keep' | undefined
  /** With `replace`: puts do not put the run off for longer than this; such as `10m`, or milliseconds. */
  longestWait?: string | number | undefined
}

export interface EntriesQuery {
  key?: string | undefined
  state?: EntryView['state'] | undefined
  /** Due at or after. */
  from?: string | undefined
  /** Due before. */
  before?: string | undefined
  limit?: number | undefined
  after?: string | undefined
}

/** Which deaths: those for which all holds that is said. */
export interface DeadFilter {
  key?: string | undefined
  /** The time of the entry, in mode `each`. */
  at?: string | undefined
  reason?: string | undefined
  /** A part of the error, whatever its case. */
  error?: string | undefined
  group?: string | undefined
  /** Died at or after. */
  from?: string | undefined
  /** Died before. */
  before?: string | undefined
}

/** A filter, or all of them. */
export type DeadChoice = DeadFilter | { all: true }

export interface DeadQuery extends DeadFilter {
  limit?: number | undefined
  after?: string | undefined
}

export interface PutOptions {
  /** The same key and body again answer what the first did. */
  idempotencyKey?: string
}

export interface PoolClient {
  /** The pool with its pause and limits, or `pool_unknown`. */
  settings(): Promise<PoolDetail>
  /** Lets no run start until `resume`, or `until`; what runs goes on. */
  pause(pause?: NewPause): Promise<PausedView>
  /** Ends a pause; false: there was none. */
  resume(): Promise<{ resumed: boolean }>
  limits(): Promise<LimitsView>
  /** Changes the limits for all members; answers all of them. */
  limit(limits: NewLimits): Promise<LimitsView>
  put(entry: NewEntry, options?: PutOptions): Promise<PutAnswer>
  /** Puts all or none. */
  putAll(entries: NewEntry[], options?: PutOptions): Promise<PutAnswer[]>
  /** The entry of a key, in mode `each` with its time; or `entry_unknown`. */
  get(key: string, at?: string): Promise<EntryView>
  /** The entry, with the progress of its run, whenever it has changed, until it is gone; or `entry_unknown`. */
  follow(key: string, options?: FollowOptions & { at?: string | undefined }): AsyncGenerator<EntryView, void>
  list(query?: EntriesQuery): Promise<Page<EntryView>>
  /** Cancels an entry; in mode `each` without a time all of the key. */
  cancel(key: string, at?: string): Promise<EntryCancelled>
  /** What was given up, the newest first. A page may be empty, and have a next one. */
  dead(query?: DeadQuery): Promise<Page<DeadView>>
  /** The groups of the newest 10,000 deaths, or of the next. */
  deadGroups(query?: DeadFilter & { after?: string | undefined }): Promise<Page<DeadGroupView>>
  /** Runs again all that the filter names, step by step; answers how many. */
  redrive(which: DeadChoice): Promise<{ redriven: number }>
  /** Removes the records of all that the filter names, and each dead entry with the last of its own. */
  remove(which: DeadChoice): Promise<{ deaths: number; entries: number }>
}

export function createPoolsClient(call: Caller, transport: TransportParts): PoolsClient {
  const path = (pool: string): string => `/v1/pools/${encodeURIComponent(pool)}`
  return {
    list: () => call({ path: '/v1/pools' }),
    make: (pool, settings = {}) => call({ method: 'PUT', path: path(pool), body: settings }),
    of: (pool) => createPoolClient(call, path(pool), transport),
  }
}

function createPoolClient(call: Caller, path: string, transport: TransportParts): PoolClient {
  const entry = (key: string): string => `${path}/entries/${encodeURIComponent(key)}`
  const post = <Answer>(body: unknown, { idempotencyKey }: PutOptions): Promise<Answer> =>
    call({
      method: 'POST',
      path: `${path}/entries`,
      body,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    })
  const step = <Answer>(what: string, body: object): Promise<Answer & { next: string | null }> =>
    call({ method: 'POST', path: `${path}/dead/${what}`, body })
  return {
    settings: () => call({ path }),
    pause: (pause = {}) => call({ method: 'POST', path: `${path}/pause`, body: pause }),
    resume: () => call({ method: 'POST', path: `${path}/resume` }),
    limits: () => call({ path: `${path}/limits` }),
    limit: (limits) => call({ method: 'PUT', path: `${path}/limits`, body: limits }),
    put: (given, options = {}) => post(given, options),
    putAll: (entries, options = {}) => post(entries, options),
    get: (key, at) => call({ path: entry(key), query: { at } }),
    follow: (key, { at, signal, onLost } = {}) =>
      followEntry({
        transport,
        call: { path: entry(key), query: { at } },
        signal: signal ?? transport.signal,
        onLost,
      }),
    list: ({ from, before, ...query } = {}) =>
      call({ path: `${path}/entries`, query: { ...query, 'due.from': from, 'due.before': before } }),
    cancel: (key, at) => call({ method: 'DELETE', path: entry(key), query: { at } }),
    dead: (query = {}) => call({ path: `${path}/dead`, query: { ...query } }),
    deadGroups: (query = {}) => call({ path: `${path}/dead/groups`, query: { ...query } }),
    async redrive(which) {
      const sum = { redriven: 0 }
      await everyStep(
        (after) => step<typeof sum>('redrive', { ...which, after }),
        ({ redriven }) => (sum.redriven += redriven),
      )
      return sum
    },
    async remove(which) {
      const sum = { deaths: 0, entries: 0 }
      await everyStep(
        (after) => step<typeof sum>('remove', { ...which, after }),
        ({ deaths, entries }) => {
          sum.deaths += deaths
          sum.entries += entries
        },
      )
      return sum
    },
  }
}

/** Asks for something that the server does in bounded steps, until it is done. */
async function everyStep<Answer extends { next: string | null }>(
  ask: (after: string | undefined) => Promise<Answer>,
  add: (answer: Answer) => void,
): Promise<void> {
  let after: string | undefined
  do {
    const answer = await ask(after)
    add(answer)
    after = answer.next ?? undefined
  } while (after !== undefined)
}
