// A pool of the store under test, with the short calls that contract cases are written in.
import { assert } from '../errors.ts'
import type { Claim } from '../fence.ts'
import type { Entry, Lane, OnConflict, TakenRun } from '../pool/entry.ts'
import type { Put, PutAnswer } from '../pool/merge.ts'
import type { Outcome, Settlement } from '../pool/settle.ts'
import type {
  EntryQuery,
  MarkAnswer,
  PoolSettings,
  PutRequest,
  PutResponse,
  SettleAnswer,
  TakeRequest,
} from '../pool/store.ts'
import type { Store } from '../store.ts'
import { claimAll } from './claim.ts'

/** A put as a case writes it; times are absolute, `payload` is JSON text. */
export interface DrivenPut {
  at?: number | null
  inMs?: number
  payload?: string | undefined
  lane?: Lane
  group?: string
  onConflict?: OnConflict
  longestWaitMs?: number
}

export interface Remembered {
  id: string
  fingerprint: string
  keepMs: number
}

export const MANY = 100_000

export async function openPool(store: Store, given: Partial<PoolSettings> = {}): Promise<PoolDriver> {
  const settings = { name: 'work', mode: 'one' as const, partitions: 4, rememberMs: 0, ...given }
  await store.pool.entries.open(settings)
  return new PoolDriver(store, settings, await claimAll(store, settings.name, settings.partitions))
}

export function asPut(key: string, given: DrivenPut = {}): Put {
  return {
    key,
    at: given.at ?? null,
    payload: given.payload,
    lane: given.lane ?? null,
    group: given.group ?? key,
    onConflict: given.onConflict ?? 'earliest',
    ...(given.inMs === undefined ? {} : { inMs: given.inMs }),
    ...(given.longestWaitMs === undefined ? {} : { longestWaitMs: given.longestWaitMs }),
  }
}

export class PoolDriver {
  readonly settings: PoolSettings
  readonly claim: Claim
  readonly #store: Store
  /** Where the store met the runs that were taken, by turn: what it says of that is its own affair. */
  readonly #places = new Map<number, string>()

  constructor(store: Store, settings: PoolSettings, claim: Claim) {
    this.#store = store
    this.claim = claim
    this.settings = settings
  }

  async put(key: string, given: DrivenPut = {}): Promise<PutAnswer> {
    const [answer] = await this.putAll([asPut(key, given)])
    assert(answer !== undefined, 'a put has an answer')
    return answer
  }

  /** All puts as one request. */
  async putAll(puts: Put[]): Promise<PutAnswer[]> {
    const response = await this.request(puts, null)
    assert(response.kind === 'answered', 'a request without an id has no mismatch')
    return response.answers
  }

  async request(puts: Put[], repeat: Remembered | null): Promise<PutResponse> {
    const [response] = await this.requests([{ puts, repeat }])
    assert(response !== undefined, 'a request has a response')
    return response
  }

  requests(requests: PutRequest[]): Promise<PutResponse[]> {
    return this.#store.pool.entries.put(this.settings.name, requests)
  }

  async take(request: Partial<TakeRequest> = {}): Promise<TakenRun[]> {
    const all = { partitions: null, lane: 'normal' as const, from: 0, limit: MANY, ...request }
    const { runs } = await this.#store.pool.entries.take(this.settings.name, all)
    return runs.map(({ place, ...run }) => {
      if (place !== undefined) this.#places.set(run.turn, place)
      return run
    })
  }

  /** The only run that is due. */
  async takeOne(): Promise<TakenRun> {
    const runs = await this.take()
    const [run] = runs
    assert(run !== undefined && runs.length === 1, `one run was expected, and ${runs.length} are due`)
    return run
  }

  async settle(
    run: Pick<TakenRun, 'key' | 'slot' | 'turn' | 'seen' | 'payloads'>,
    outcome: Outcome,
  ): Promise<SettleAnswer> {
    const { key, slot, turn, seen, payloads } = run
    const saw = payloads === undefined ? {} : { seenPayloads: payloads.length }
    const [answer] = await this.settleAll([{ key, slot, turn, seen, outcome, ...saw }])
    assert(answer !== undefined, 'a settlement has an answer')
    return answer
  }

  settleAll(settlements: Settlement[], claim = this.claim): Promise<SettleAnswer[]> {
    const placed = settlements.map((settlement) => {
      const place = this.#places.get(settlement.turn)
      return place === undefined ? settlement : { ...settlement, place }
    })
    return this.#store.pool.entries.settle(this.settings.name, placed, claim)
  }

  /** Marks one run. */
  async mark(
    { key, slot, turn }: Pick<TakenRun, 'key' | 'slot' | 'turn'>,
    crashes: number,
    claim = this.claim,
  ): Promise<MarkAnswer> {
    const marks = [{ key, slot, turn, crashes }]
    const [answer] = await this.#store.pool.entries.mark(this.settings.name, marks, claim)
    assert(answer !== undefined, 'a mark has an answer')
    return answer
  }

  cancel(key: string, slot?: number | null): ReturnType<Store['pool']['entries']['cancel']> {
    return this.#store.pool.entries.cancel(this.settings.name, slot === undefined ? { key } : { key, slot })
  }

  reschedule(
    key: string,
    slot: number | null,
    at: number,
  ): ReturnType<Store['pool']['entries']['reschedule']> {
    return this.#store.pool.entries.reschedule(this.settings.name, { key, slot, at })
  }

  find(key: string, slot: number | null = null): Promise<Entry | null> {
    return this.#store.pool.browse.get(this.settings.name, { key, slot })
  }

  /** An entry that must be there. */
  async get(key: string, slot: number | null = null): Promise<Entry> {
    const entry = await this.find(key, slot)
    assert(entry !== null, `the entry ${key} exists`)
    return entry
  }

  async list(query: Partial<EntryQuery> = {}): Promise<Entry[]> {
    const page = await this.#store.pool.browse.list(this.settings.name, { limit: MANY, ...query })
    return page.entries
  }

  count(): ReturnType<Store['pool']['browse']['count']> {
    return this.#store.pool.browse.count(this.settings.name)
  }

  get dead(): Store['pool']['dead'] {
    return this.#store.pool.dead
  }

  deaths(limit = MANY): ReturnType<Store['pool']['browse']['deaths']> {
    return this.#store.pool.browse.deaths(this.settings.name, limit)
  }
}
