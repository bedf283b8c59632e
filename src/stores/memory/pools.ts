// Pools in memory. Movers ask for what is due, by its order; all other questions look through every entry.
import type { Clock } from '../../clock.ts'
import { assert } from '../../errors.ts'
import { type Claim, poolResource } from '../../fence.ts'
import { partitionOf } from '../../partition.ts'
import { type Entry, type EntryState, entryName, holdsTurn, liveDueAt, stateOf } from '../../pool/entry.ts'
import { type Put, type PutAnswer, merge, slotOf } from '../../pool/merge.ts'
import { byDue, isAfter, isNamed } from '../../pool/order.ts'
import { reschedule } from '../../pool/reschedule.ts'
import { laneOf, refuseOtherSettings } from '../../pool/settings.ts'
import { type Death, type Settlement, restsUntil, settle } from '../../pool/settle.ts'
import type {
  Browse,
  CancelAnswer,
  Entries,
  EntryQuery,
  Mark,
  MarkAnswer,
  PoolSettings,
  PutRequest,
  PutResponse,
  Reschedule,
  RescheduleAnswer,
  SettleAnswer,
  StoredPool,
  Taken,
  TakeRequest,
} from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { MemoryFences } from './fences.ts'
import { type MemoryPool, createPool, emptied, snapshotPool } from './memory-pool.ts'
import { dropPast, isFired } from './past.ts'
import { takeFrom } from './payloads.ts'
import type { Keep } from './snapshots.ts'

export interface MemoryPoolsParts {
  clock: Clock
  commit: Commit
  fences: MemoryFences
  hint: (hint: Hint) => void
}

export class MemoryPools implements Entries, Browse {
  readonly #pools = new Map<string, MemoryPool>()
  readonly #clock: Clock
  readonly #commit: Commit
  readonly #fences: MemoryFences
  readonly #hint: (hint: Hint) => void
  #turn = 0
  /** The first turn of this generation. */
  #firstTurn = 0

  constructor({ clock, commit, fences, hint }: MemoryPoolsParts) {
    this.#clock = clock
    this.#commit = commit
    this.#fences = fences
    this.#hint = hint
  }

  async open(settings: PoolSettings): Promise<void> {
    const existing = this.#pools.get(settings.name)
    if (existing !== undefined) refuseOtherSettings(existing.settings, settings)
    const pool = existing ?? createPool(settings)
    this.#pools.set(settings.name, pool)
    pool.rememberMs = settings.rememberMs ?? pool.rememberMs
    pool.deadForMs = settings.deadForMs ?? pool.deadForMs
    pool.rests.throttleMs = settings.throttleMs ?? pool.rests.throttleMs
  }

  async put(name: string, requests: PutRequest[]): Promise<PutResponse[]> {
    const pool = this.of(name)
    const now = this.#clock.now()
    return this.#commit('put', () => requests.map((request) => this.#answer(pool, request, now)))
  }

  #answer(pool: MemoryPool, request: PutRequest, now: number): PutResponse {
    const { repeat } = request
    const kept = repeat === null ? undefined : pool.answers.get(repeat.id)
    if (repeat !== null && kept !== undefined && kept.until > now) {
      if (kept.fingerprint !== repeat.fingerprint) return { kind: 'mismatch' }
      return { ...kept.response, ...(kept.response.kind === 'answered' ? { replayed: true } : {}) }
    }
    const apply = (): PutResponse => {
      const answers = request.puts.map((put) => this.#putOne(pool, put, now))
      return { kind: 'answered', answers, replayed: false }
    }
    const response = pool.payloads === null ? apply() : pool.payloads.request(apply)
    if (repeat !== null && response.kind === 'answered') {
      dropPast(pool.answers, now)
      pool.answers.delete(repeat.id)
      pool.answers.set(repeat.id, { fingerprint: repeat.fingerprint, response, until: now + repeat.keepMs })
    }
    return response
  }

  #putOne(pool: MemoryPool, put: Put, now: number): PutAnswer {
    const { mode, partitions } = pool.settings
    const name = entryName(put.key, slotOf(put, { mode, now }))
    const partition = partitionOf(put.group, partitions)
    const existing = pool.entries.get(name)
    const fired = isFired(pool, name, now)
    const { newTurn } = this
    const lane = laneOf(pool.settings)
    const restsUntil = pool.rests.of(name)
    const context = { mode, now, partition, lane, fired, restsUntil, newTurn }
    const { entry: merged, answer, into } = merge(existing, put, context)
    const entry = merged === existing ? existing : this.#renewed(merged)
    pool.payloads?.begin(name)
    if (entry !== undefined && entry !== existing) {
      pool.entries.set(name, entry)
      pool.payloads?.add(name, put, { result: answer.result, into })
      this.#hint({ kind: 'put', pool: pool.settings.name, dueAt: answer.dueAt })
    }
    return answer
  }

  /** What is merged into an entry of an earlier generation is no part of the run that was taken of it there. [G6] */
  #renewed(entry: Entry | undefined): Entry | undefined {
    return entry === undefined || entry.turn >= this.#firstTurn ? entry : { ...entry, turn: this.newTurn() }
  }

  async cancel(name: string, which: { key: string; slot?: number | null }): Promise<CancelAnswer> {
    return this.#commit('cancel', () => this.#cancel(name, which))
  }

  #cancel(name: string, { key, slot }: { key: string; slot?: number | null }): CancelAnswer {
    const pool = this.of(name)
    const now = this.#clock.now()
    const answer = { cancelled: 0, due: 0 }
    for (const entry of pool.entries.values()) {
      if (entry.key !== key || (slot !== undefined && entry.slot !== slot)) continue
      pool.entries.delete(entryName(entry.key, entry.slot))
      pool.rests.forget(entryName(entry.key, entry.slot))
      pool.payloads?.forget(entryName(entry.key, entry.slot))
      answer[stateOf(entry, now) === 'due' ? 'due' : 'cancelled'] += 1
    }
    return answer
  }

  async reschedule(name: string, change: Reschedule): Promise<RescheduleAnswer> {
    return this.#commit('put', () => this.#reschedule(name, change))
  }

  #reschedule(name: string, { key, slot, at }: Reschedule): RescheduleAnswer {
    const pool = this.of(name)
    const now = this.#clock.now()
    const { mode } = pool.settings
    const from = entryName(key, slot)
    const to = entryName(key, mode === 'each' ? at : null)
    const fired = isFired(pool, to, now)
    const taken = to !== from && pool.entries.get(to)?.state === 'live'
    const context = { mode, now, fired, taken, restsUntil: pool.rests.of(from), newTurn: this.newTurn }
    const decided = reschedule(pool.entries.get(from), at, context)
    switch (decided.kind) {
      case 'absent':
      case 'due':
      case 'exists':
        return decided
      case 'anew':
        // In mode one the put itself takes the place of the dead entry.
        if (mode === 'each') pool.entries.delete(from)
        return { kind: 'moved', answer: this.#putOne(pool, decided.put, now) }
      case 'moved':
        pool.entries.set(from, decided.entry)
        this.#hint({ kind: 'put', pool: name, dueAt: decided.answer.dueAt })
        return { kind: 'moved', answer: decided.answer }
    }
  }

  async take(name: string, request: TakeRequest): Promise<Taken> {
    const now = this.#clock.now()
    const { partitions, lane, from, limit } = request
    const pool = this.of(name)
    const wanted = [...pool.entries.values()].filter(
      (entry) =>
        entry.state === 'live' &&
        entry.lane === lane &&
        (partitions === null || partitions.includes(entry.partition)),
    )
    const runs = wanted
      .filter(({ next }) => next.dueAt >= from && next.dueAt <= now)
      .sort(byDue)
      .slice(0, limit)
      .map((entry) => takeFrom(pool.payloads, entry))
    const later = wanted.filter(({ next }) => next.dueAt > now)
    const first = later.reduce((least, { next }) => Math.min(least, next.dueAt), Infinity)
    return { now, runs, nextDueAt: runs.length < limit && first < Infinity ? first : null }
  }

  async settle(name: string, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    const now = this.#clock.now()
    const pool = this.of(name)
    const held = this.#fences.held(poolResource(name), claim)
    const settleHeld = (settlement: Settlement): SettleAnswer => {
      const entry = pool.entries.get(entryName(settlement.key, settlement.slot))
      const isThere = entry !== undefined && holdsTurn(entry, settlement.turn)
      if (isThere && !held.has(entry.partition)) return { result: 'refused', nextDueAt: null }
      return this.#settleOne(pool, settlement, now)
    }
    return this.#commit('settle', () => settlements.map(settleHeld))
  }

  #settleOne(pool: MemoryPool, settlement: Settlement, now: number): SettleAnswer {
    const id = entryName(settlement.key, settlement.slot)
    const entry = pool.entries.get(id)
    if (entry === undefined) return { result: 'gone', nextDueAt: null }
    if (!holdsTurn(entry, settlement.turn)) return { result: 'gone', nextDueAt: liveDueAt(entry) }
    const context = { now, newTurn: this.newTurn, restMs: pool.rests.throttleMs }
    const settled = settle(entry, settlement, context)
    pool.rests.keep(id, restsUntil(settlement.outcome.kind, context), now)
    const seen = pool.payloads?.settle(id, settlement, { before: entry, settled, from: now + context.restMs })
    if (settled.death !== null)
      pool.deaths.unshift({ id: settled.entry?.turn ?? this.newTurn(), death: { ...settled.death, ...seen } })
    if (settled.entry === null) pool.entries.delete(id)
    else pool.entries.set(id, settled.entry)
    return { result: 'settled', nextDueAt: settled.entry === null ? null : liveDueAt(settled.entry) }
  }

  async mark(name: string, marks: Mark[], claim: Claim): Promise<MarkAnswer[]> {
    const held = this.#fences.held(poolResource(name), claim)
    return this.#commit('mark', () => this.of(name).entries.mark(marks, held))
  }

  /** The entries of some partitions that are due, of every lane, and the moment of the look. */
  dueNow(name: string, partitions: ReadonlySet<number>, limit: number): { now: number; entries: Entry[] } {
    const now = this.#clock.now()
    const due = this.of(name).entries.dueBy(now, partitions)
    return { now, entries: due.sort(byDue).slice(0, limit) }
  }

  /** Settles entries as done in the same step as `dueNow`, and remembers them if the pool does. */
  fireNow(name: string, entries: Entry[], now: number): void {
    const pool = this.of(name)
    dropPast(pool.fired, now)
    for (const { key, slot, turn, next } of entries) {
      this.#settleOne(pool, { key, slot, turn, seen: next.tally, outcome: { kind: 'done' } }, now)
      const { settings, rememberMs } = pool
      if (settings.mode !== 'each' || rememberMs === 0) continue
      pool.fired.delete(entryName(key, slot))
      pool.fired.set(entryName(key, slot), { until: now + rememberMs })
    }
  }

  async get(name: string, { key, slot }: { key: string; slot: number | null }): Promise<Entry | null> {
    return this.of(name).entries.get(entryName(key, slot)) ?? null
  }

  async list(name: string, query: EntryQuery): Promise<{ now: number; entries: Entry[] }> {
    const now = this.#clock.now()
    const entries = [...this.of(name).entries.values()]
      .filter(
        (entry) =>
          isNamed(entry, query) &&
          entry.next.dueAt >= (query.dueFrom ?? -Infinity) &&
          entry.next.dueAt < (query.dueBefore ?? Infinity) &&
          (query.state === undefined || stateOf(entry, now) === query.state) &&
          (query.after === undefined || isAfter(entry, query.after)),
      )
      .sort(byDue)
      .slice(0, query.limit)
    return { now, entries }
  }

  async count(name: string): Promise<Record<EntryState, number>> {
    const counts = { waiting: 0, due: 0, 'backing-off': 0, dead: 0 }
    const now = this.#clock.now()
    for (const entry of this.of(name).entries.values()) counts[stateOf(entry, now)] += 1
    return counts
  }

  async deaths(name: string, limit: number): Promise<Death[]> {
    return this.of(name)
      .deaths.slice(0, limit)
      .map(({ death }) => death)
  }

  async pools(): Promise<StoredPool[]> {
    return this.all()
      .map(toStored)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async pool(name: string): Promise<StoredPool | null> {
    const pool = this.#pools.get(name)
    return pool === undefined ? null : toStored(pool)
  }

  all(): MemoryPool[] {
    return [...this.#pools.values()]
  }

  /** When the first live entry of some partitions is due; null: none is. */
  nextDueAt(name: string, partitions: Iterable<number>): number | null {
    return this.of(name).entries.firstDueAt(partitions)
  }

  of(name: string): MemoryPool {
    const pool = this.#pools.get(name)
    assert(pool !== undefined, `the pool ${name} was not opened`)
    return pool
  }

  readonly newTurn = (): number => (this.#turn += 1)

  /** Pools stay open that were opened since, and are empty. Turns leap, so that none is given again. */
  readonly snapshot: Keep = () => {
    const kept = new Map(this.all().map((pool) => [pool.settings.name, snapshotPool(pool)]))
    return (least) => {
      for (const [name, pool] of this.#pools) {
        const goBack = kept.get(name)
        if (goBack === undefined) this.#pools.set(name, emptied(pool))
        else goBack()
      }
      this.#turn = Math.max(this.#turn, least)
      this.#firstTurn = this.#turn + 1
    }
  }
}

function toStored({ settings, rememberMs, deadForMs, rests: { throttleMs } }: MemoryPool): StoredPool {
  const { name, mode, partitions, fansOut = false, payloads = 'latest' } = settings
  return { name, mode, partitions, rememberMs, deadForMs, fansOut, throttleMs, payloads }
}
