// The part of the client that speaks of pools.
import { checkOptions, optionTable } from '../check-options.ts'
import type { Page } from './answers.ts'
import { type FollowOptions, followEntry } from './follow.ts'
import type {
  DeadKindView,
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
  of<Payload = unknown>(pool: string): PoolClient<Payload>
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
  /** `per` such as `1s`, or milliseconds; with `spread` starts are spaced by `per`/`count`. */
  rate?: { count: number; per: string | number; spread?: boolean | undefined } | null | undefined
}

/** When and how the run of an entry is made. */
export interface EntryTerms {
  /** When it is due: a Date, RFC 3339 text or milliseconds since 1970; default now. */
  at?: Date | string | number | undefined
  /** Due so long after the put, by the clock of the store, such as `10m`, or milliseconds; not together with `at`. */
  in?: string | number | undefined
  lane?: EntryView['lane'] | undefined
  group?: string | undefined
  onConflict?: 'earliest' | 'replace' | 'keep' | undefined
  /** With `replace`: puts do not put the run off for longer than this; such as `10m`, or milliseconds. */
  longestWait?: string | number | undefined
}

/** What `add` may say: there is no other put of its key. */
export type AddTerms = Pick<EntryTerms, 'at' | 'in' | 'lane' | 'group'>

/** The payload may be left out only where the pool's type allows `undefined`. */
export type NewEntry<Payload = unknown> = EntryTerms & { key: string } & (undefined extends Payload
    ? { payload?: Payload }
    : { payload: Payload })

export interface EntriesQuery {
  key?: string | undefined
  /** Keys that begin with this. */
  prefix?: string | undefined
  group?: string | undefined
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
  kind?: string | undefined
  /** The group of the put. */
  group?: string | undefined
  state?: DeadView['state'] | undefined
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

const PUT = optionTable<PutOptions>('a put', { idempotencyKey: 'text' })
/** The server would refuse most of what is unknown, but a key or a payload here would be dropped. */
const ADD = optionTable<AddTerms>(
  'add',
  { at: null, in: null, lane: null, group: null },
  { key: 'the key of add is fresh: use put with a key of your own', payload: 'it is the first argument' },
)
const FOLLOW = optionTable<FollowOptions & { at?: string }>('following an entry', {
  at: null,
  signal: 'signal',
  onLost: 'function',
})

const MOVE = optionTable<{ from: string | null; to: string }>('moving an entry', { from: null, to: null })

/** `Payload` is what the puts of the pool carry. */
export interface PoolClient<Payload = unknown> {
  /** The pool with its pause and limits, or `pool_unknown`. */
  settings(): Promise<PoolDetail>
  /** Lets no run start until `resume`, or `until`; what runs goes on. */
  pause(pause?: NewPause): Promise<PausedView>
  /** Ends a pause; false: there was none. */
  resume(): Promise<{ resumed: boolean }>
  limits(): Promise<LimitsView>
  /** Changes the limits for all members; answers all of them. */
  limit(limits: NewLimits): Promise<LimitsView>
  put(entry: NewEntry<Payload>, options?: PutOptions): Promise<PutAnswer>
  /** A run of its own under a fresh key, which it answers: for work that has no key of its own. */
  add(payload: Payload, terms?: AddTerms): Promise<PutAnswer>
  /** Puts all or none. */
  putAll(entries: NewEntry<Payload>[], options?: PutOptions): Promise<PutAnswer[]>
  /** The entry of a key, in mode `each` with its time; or `entry_unknown`. */
  get(key: string, at?: string): Promise<EntryView>
  /** The entry, with the progress of its run, whenever it has changed, until it is gone; or `entry_unknown`. */
  follow(key: string, options?: FollowOptions & { at?: string | undefined }): AsyncGenerator<EntryView, void>
  list(query?: EntriesQuery): Promise<Page<EntryView>>
  /**
   * Moves an entry to another time, unless it is due already (`entry_due`); `from` may be null where a key has one entry. Times
   * are RFC 3339.
   */
  move(key: string, change: { from: string | null; to: string }): Promise<PutAnswer>
  /** Cancels an entry; in mode `each` without a time all of the key. */
  cancel(key: string, at?: string): Promise<EntryCancelled>
  /** What was given up, the newest first. A page may be empty, and have a next one. */
  dead(query?: DeadQuery): Promise<Page<DeadView>>
  /** The kinds of the newest 10,000 deaths, or of the next. */
  deadKinds(query?: DeadFilter & { after?: string | undefined }): Promise<Page<DeadKindView>>
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
    of: <Payload>(pool: string) => createPoolClient<Payload>(call, path(pool), transport),
  }
}

function createPoolClient<Payload>(
  call: Caller,
  path: string,
  transport: TransportParts,
): PoolClient<Payload> {
  const entry = (key: string): string => `${path}/entries/${encodeURIComponent(key)}`
  const post = async <Answer>(body: unknown, options: PutOptions): Promise<Answer> => {
    checkOptions(options, PUT)
    const { idempotencyKey } = options
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return call({ method: 'POST', path: `${path}/entries`, body, headers })
  }
  const step = <Answer>(what: string, body: object): Promise<Answer & { next: string | null }> =>
    call({ method: 'POST', path: `${path}/dead/${what}`, body })
  return {
    settings: () => call({ path }),
    pause: (pause = {}) => call({ method: 'POST', path: `${path}/pause`, body: pause }),
    resume: () => call({ method: 'POST', path: `${path}/resume` }),
    limits: () => call({ path: `${path}/limits` }),
    limit: (limits) => call({ method: 'PUT', path: `${path}/limits`, body: limits }),
    put: (given, options = {}) => post(given, options),
    // With an idempotency key, so that a repeat after a cut connection is exact.
    async add(payload, terms = {}) {
      checkOptions(terms, ADD)
      const key = transport.clock.id()
      return post({ ...terms, key, payload }, { idempotencyKey: key })
    },
    putAll: (entries, options = {}) => post(entries, options),
    get: (key, at) => call({ path: entry(key), query: { at } }),
    follow(key, options = {}) {
      checkOptions(options, FOLLOW)
      const { at, signal, onLost } = options
      return followEntry({
        transport,
        call: { path: entry(key), query: { at } },
        signal: signal ?? transport.signal,
        onLost,
      })
    },
    list: ({ from, before, ...query } = {}) =>
      call({ path: `${path}/entries`, query: { ...query, 'due.from': from, 'due.before': before } }),
    async move(key, change) {
      checkOptions(change, MOVE)
      const { from, to } = change
      return call({ method: 'PATCH', path: entry(key), query: { at: from ?? undefined }, body: { at: to } })
    },
    cancel: (key, at) => call({ method: 'DELETE', path: entry(key), query: { at } }),
    dead: (query = {}) => call({ path: `${path}/dead`, query: { ...query } }),
    deadKinds: (query = {}) => call({ path: `${path}/dead/kinds`, query: { ...query } }),
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
