// What was given up in a pool, as its users see it: to look at, to run again, to remove; one key or all that a filter
// names. Rules [S10], [S11], [Z1] to [Z3] of docs/spec/pool.md.
import { type Moment, checkKey, checkMoment } from '../check.ts'
import { checkOptions, optionTable, refuseSurplus } from '../check-options.ts'
import { HeadraceError } from '../errors.ts'
import { type DeathKind, addToKinds, kindOf } from './death-kind.ts'
import { DEATH_STATES, type DeathState } from './settle.ts'
import type { DeathCursor, DeathRecord, PoolStore, RemovedDead } from './store.ts'

/** A run that was given up. */
export interface DeadRun {
  /** The number of the record. */
  id: number
  key: string
  /** The moment that was asked for, in mode `each`; null in mode `one`. */
  at: Date | null
  payload: unknown
  /** What every put of the tally carried, in a pool that keeps all payloads; else none. */
  payloads: unknown[]
  /** How many puts it stood for. */
  tally: number
  /** `attempts`: every attempt failed. `crashed`: it was under way in three crashes. Else what the handler said. */
  reason: string
  /** What was thrown last; null: nothing was. */
  error: string | null
  /** Deaths of one kind have the same reason and error but for numbers and ids. */
  kind: string
  /** The group of the put; the key by default. */
  group: string
  /** `dead`: the entry is dead. `retrying`: it runs again, and is not done yet. `recovered`: it was done since, or removed. */
  state: DeathState
  diedAt: Date
}

/** Which deaths: those for which all holds that is said. */
export interface DeadFilter {
  key?: string
  /** The moment that was asked for, in mode `each`. */
  at?: Moment
  reason?: string
  /** A part of the error, whatever its case. */
  error?: string
  kind?: string
  /** The group of the put. */
  group?: string
  state?: DeathState
  /** Died at or after. */
  from?: Moment
  /** Died before. */
  before?: Moment
}

/** Some of the dead by a filter, or all of them: what names nothing is refused, since a value may be missing by mistake. */
export type DeadChoice = DeadFilter | { all: true }

/** A page of dead runs. */
export interface DeadQuery extends DeadFilter {
  /** Default 100. */
  limit?: number
  /** `next` of the page before. */
  after?: DeathCursor | undefined
}

const FILTERS = {
  key: null,
  at: null,
  reason: 'text',
  error: 'text',
  kind: 'text',
  group: 'text',
  state: DEATH_STATES,
  from: null,
  before: null,
} as const
const CHOICE = optionTable<DeadFilter & { all: true }>('a choice of dead runs', { ...FILTERS, all: 'flag' })
const FILTER = optionTable<DeadFilter>('a filter of dead runs', FILTERS)
const QUERY = optionTable<DeadQuery>('a list of dead runs', { ...FILTERS, limit: 'count', after: 'object' })

/** A run that was given up, its payload as JSON text; null: there is none. */
export interface DeadText extends DeathRecord {
  kind: string
  payload: string | null
  /** Of every put, in a pool that keeps them all; else none. */
  payloads: readonly string[]
}

/** What a step came to, and where the next one begins; null: it was the last. */
export type Stepped<Answer> = Answer & { next: DeathCursor | null }

type Pass = <Answer>(call: () => Promise<Answer>) => Promise<Answer>

const LISTED = 100
/** Records of one read, and the most that are changed at once. */
const CHUNK = 1000
/** Records that one step looks at. */
export const MOST_LOOKED = 10_000

/** The runs of a pool that were given up: `pool.dead`. */
export class Dead {
  readonly #pool: string
  readonly #store: Pick<PoolStore, 'dead'>
  readonly #pass: Pass

  constructor(pool: string, store: Pick<PoolStore, 'dead'>, pass: Pass) {
    this.#pool = pool
    this.#store = store
    this.#pass = pass
  }

  /** The newest first. A key that was put again since is still listed: the record of its death stays. */
  async list(query: DeadQuery = {}): Promise<DeadRun[]> {
    refuseSurplus(arguments.length, { form: 'dead.list(query)', takes: 1 })
    return (await this.page(query)).runs.map(deadRun)
  }

  /** One page, and where the next begins. A page may have fewer than `limit`, though there are more. */
  async page(query: DeadQuery): Promise<Stepped<{ runs: DeadText[] }>> {
    checkOptions(query, QUERY)
    const { limit = LISTED, after, ...filter } = query
    const records: DeathRecord[] = []
    let next: DeathCursor | null = after ?? null
    for await (const chunk of this.#look(filter, after)) {
      const [room, isOver] = [limit - records.length, chunk.matched.length > limit - records.length]
      records.push(...chunk.matched.slice(0, room))
      next = isOver ? cursorOf(records.at(-1)) : chunk.next
      if (records.length === limit) break
    }
    if (records.length === 0) return { runs: [], next }
    const payloads = await this.#pass(() => this.#store.dead.payloads(this.#pool, idsOf(records)))
    // One that has no payload by now was removed meanwhile.
    const there = records.filter(({ id }) => payloads.has(id))
    const runs = there.map((record) => {
      const { payload = null, payloads: all = [] } = payloads.get(record.id) ?? {}
      return { ...record, kind: kindOf(record).id, payload, payloads: all }
    })
    return { runs, next }
  }

  /** The kinds of the newest 10,000 deaths, the largest first; `next` is not null when there are older ones. */
  async kinds(filter: DeadFilter = {}, after?: DeathCursor): Promise<Stepped<{ kinds: DeathKind[] }>> {
    refuseSurplus(arguments.length, { form: 'dead.kinds(filter, after)', takes: 2 })
    const kinds = new Map<string, DeathKind>()
    let next: DeathCursor | null = null
    for await (const chunk of this.#look(filter, after)) {
      addToKinds(kinds, chunk.matched)
      next = chunk.next
    }
    return { kinds: [...kinds.values()].sort((a, b) => b.count - a.count || b.last - a.last), next }
  }

  /** Runs a dead entry again, now, with its payload and from the first attempt; false: it is not there, or not dead. */
  async redrive(key: string, at?: Moment): Promise<boolean> {
    refuseSurplus(arguments.length, { form: 'dead.redrive(key, at)', takes: 2 })
    return (await this.redriveAll(nameOf(key, at))) > 0
  }

  /** Runs every entry again that is dead by a death of the filter; answers how many. */
  async redriveAll(which: DeadChoice): Promise<number> {
    refuseSurplus(arguments.length, { form: 'dead.redriveAll(filter)', takes: 1 })
    const filter = filterOf(which)
    let redriven = 0
    let next: DeathCursor | null | undefined
    do {
      const step: Stepped<{ redriven: number }> = await this.redriveSome(filter, next ?? undefined)
      redriven += step.redriven
      next = step.next
    } while (next !== null)
    return redriven
  }

  /** One step of `redriveAll`. */
  async redriveSome(filter: DeadFilter, after?: DeathCursor): Promise<Stepped<{ redriven: number }>> {
    const step: Stepped<{ redriven: number }> = { redriven: 0, next: null }
    for await (const { matched, next } of this.#look(filter, after)) {
      step.next = next
      if (matched.length === 0) continue
      step.redriven += await this.#pass(() => this.#store.dead.redrive(this.#pool, idsOf(matched)))
    }
    return step
  }

  /** Removes the records of a key's deaths, and its entry if that is dead; false: there were none. */
  async remove(key: string, at?: Moment): Promise<boolean> {
    refuseSurplus(arguments.length, { form: 'dead.remove(key, at)', takes: 2 })
    return (await this.removeAll(nameOf(key, at))).deaths > 0
  }

  /** Removes every record of the filter, and dead entries of which no record is left. */
  async removeAll(which: DeadChoice): Promise<RemovedDead> {
    refuseSurplus(arguments.length, { form: 'dead.removeAll(filter)', takes: 1 })
    const filter = filterOf(which)
    const removed = { deaths: 0, entries: 0 }
    let next: DeathCursor | null | undefined
    do {
      const step: Stepped<RemovedDead> = await this.removeSome(filter, next ?? undefined)
      removed.deaths += step.deaths
      removed.entries += step.entries
      next = step.next
    } while (next !== null)
    return removed
  }

  /** One step of `removeAll`. */
  async removeSome(filter: DeadFilter, after?: DeathCursor): Promise<Stepped<RemovedDead>> {
    const step: Stepped<RemovedDead> = { deaths: 0, entries: 0, next: null }
    for await (const { matched, next } of this.#look(filter, after)) {
      step.next = next
      if (matched.length === 0) continue
      const removed = await this.#pass(() => this.#store.dead.remove(this.#pool, idsOf(matched)))
      step.deaths += removed.deaths
      step.entries += removed.entries
    }
    return step
  }

  /** Records of the filter, chunk by chunk, until the end or until enough were looked at. */
  async *#look(filter: DeadFilter, start: DeathCursor | undefined): AsyncGenerator<Chunk> {
    checkOptions(filter, FILTER)
    const matches = matcherOf(filter)
    const range = rangeOf(filter)
    let after = start
    for (let looked = 0; looked < MOST_LOOKED; looked += CHUNK) {
      const query = { ...range, limit: CHUNK, ...(after === undefined ? {} : { after }) }
      const records = await this.#pass(() => this.#store.dead.list(this.#pool, query))
      const next = records.length < CHUNK ? null : cursorOf(records.at(-1))
      yield { matched: records.filter(matches), next }
      if (next === null) return
      after = next
    }
  }
}

interface Chunk {
  matched: DeathRecord[]
  /** Where the next one begins; null: this was the last. */
  next: DeathCursor | null
}

/** The filter of a choice. [Z3] */
function filterOf(which: DeadChoice): DeadFilter {
  checkOptions(which, CHOICE)
  const { all, ...filter } = which as DeadFilter & { all?: boolean }
  const isNamed = Object.values(filter).some((value) => value !== undefined)
  if (isNamed !== (all === true)) return filter
  const what = isNamed
    ? 'all stands beside a filter'
    : 'nothing says which of the dead, or every value is undefined'
  throw new HeadraceError('invalid_options', what, {
    remedy: `name them by ${Object.keys(FILTERS).join(', ')}, or give { all: true }`,
  })
}

function rangeOf({ key, from, before }: DeadFilter): { key?: string; from?: number; before?: number } {
  return {
    ...(key === undefined ? {} : { key: checkKey(key) }),
    ...(from === undefined ? {} : { from: checkMoment(from, 'from') }),
    ...(before === undefined ? {} : { before: checkMoment(before, 'before') }),
  }
}

/** What the store does not look at. */
function matcherOf({ at, reason, error, kind, group, state }: DeadFilter): (record: DeathRecord) => boolean {
  const slot = at === undefined ? undefined : checkMoment(at)
  const part = error?.toLowerCase()
  return (record) =>
    (slot === undefined || record.slot === slot) &&
    (reason === undefined || record.reason === reason) &&
    (part === undefined || (record.error?.toLowerCase().includes(part) ?? false)) &&
    (group === undefined || record.group === group) &&
    (state === undefined || record.state === state) &&
    (kind === undefined || kindOf(record).id === kind)
}

function cursorOf(record: DeathRecord | undefined): DeathCursor | null {
  return record === undefined ? null : { diedAt: record.diedAt, id: record.id }
}

function idsOf(records: readonly DeathRecord[]): number[] {
  return records.map(({ id }) => id)
}

/** A key that is missing would name everything. */
function nameOf(key: string, at: Moment | undefined): DeadFilter {
  const named = { key: checkKey(key) }
  return at === undefined ? named : { ...named, at }
}

function deadRun(dead: DeadText): DeadRun {
  const { id, key, slot, payload, payloads, seen, reason, error, kind, group, state, diedAt } = dead
  return {
    id,
    key,
    at: slot === null ? null : new Date(slot),
    payload: payload === null ? undefined : (JSON.parse(payload) as unknown),
    payloads: payloads.map((text) => JSON.parse(text) as unknown),
    tally: seen,
    reason,
    error,
    kind,
    group,
    state,
    diedAt: new Date(diedAt),
  }
}
