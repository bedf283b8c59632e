// The entries of pools: each method gathers, asks the pure rules, and applies, in one synchronous transaction.
import { type Claim, poolResource } from '../../fence.ts'
import { type Entry, type TakenRun, holdsTurn, liveDueAt, stateOf, takenRun } from '../../pool/entry.ts'
import { mark } from '../../pool/mark.ts'
import { type Death, type Settlement, restsUntil, settle } from '../../pool/settle.ts'
import type {
  CancelAnswer,
  Entries,
  Mark,
  MarkAnswer,
  PoolSettings,
  PutRequest,
  PutResponse,
  Reschedule,
  RescheduleAnswer,
  SettleAnswer,
  Taken,
  TakeRequest,
} from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Database } from './database.ts'
import type { SqliteFences } from './fences.ts'
import {
  type Pools,
  type SqlitePool,
  dueAfter,
  dueEntries,
  findEntry,
  removeEntry,
  replaceEntry,
} from './pools.ts'
import { PutBatch } from './put-batch.ts'
import type { Session } from './session.ts'
import { slotColumn } from './entry-table.ts'

export interface SqliteEntriesParts {
  database: Database
  session: Session
  pools: Pools
  fences: SqliteFences
  hint(hint: Hint): void
  now(): number
}

/** How many entries of one key a cancel reads at once; all of them go in one transaction. */
const CANCELLED_AT_ONCE = 1000

interface SettleContext {
  now: number
  /** The partitions whose fence is the claim's. */
  held: ReadonlySet<number>
}

export class SqliteEntries implements Entries {
  readonly #parts: SqliteEntriesParts

  constructor(parts: SqliteEntriesParts) {
    this.#parts = parts
  }

  open(settings: PoolSettings): Promise<void> {
    return this.#parts.pools.open(settings)
  }

  put(name: string, requests: PutRequest[]): Promise<PutResponse[]> {
    return this.#parts.session.write('put', (tx) => {
      const batch = new PutBatch(this.#parts, this.#parts.pools.of(name), tx)
      return requests.map((request) => batch.answer(request))
    })
  }

  cancel(name: string, { key, slot }: { key: string; slot?: number | null }): Promise<CancelAnswer> {
    return this.#parts.session.write('cancel', ({ now }) => {
      const pool = this.#parts.pools.of(name)
      const answer = { cancelled: 0, due: 0 }
      for (let entries = entriesOf(pool, key, slot); entries.length > 0;) {
        for (const entry of entries) {
          removeEntry(pool, entry)
          pool.rests.forget(key)
          pool.payloads?.forget(key)
          answer[stateOf(entry, now) === 'due' ? 'due' : 'cancelled'] += 1
        }
        entries = slot === undefined ? pool.table.ofKey(key, CANCELLED_AT_ONCE) : []
      }
      return answer
    })
  }

  reschedule(name: string, change: Reschedule): Promise<RescheduleAnswer> {
    return this.#parts.session.write('put', (tx) => {
      return new PutBatch(this.#parts, this.#parts.pools.of(name), tx).reschedule(change)
    })
  }

  async take(name: string, { partitions, lane, from, limit }: TakeRequest): Promise<Taken> {
    return this.#parts.session.read(() => {
      const now = this.#parts.now()
      const pool = this.#parts.pools.of(name)
      const named = partitions === null ? pool.partitions : [...new Set(partitions)]
      const entries = dueEntries(pool, { partitions: named, lanes: [lane], from, until: now, limit })
      const nextDueAt = entries.length < limit ? dueAfter(pool, { partitions: named, lane, now }) : null
      return { now, runs: entries.map((entry) => takeFrom(pool, entry)), nextDueAt }
    })
  }

  settle(name: string, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    return this.#parts.session.write('settle', ({ now }) => {
      const pool = this.#parts.pools.of(name)
      const held = new Set(this.#parts.fences.look(poolResource(name), claim).held)
      return settlements.map((settlement) => this.#settleOne(pool, settlement, { now, held }))
    })
  }

  mark(name: string, marks: Mark[], claim: Claim): Promise<MarkAnswer[]> {
    return this.#parts.session.write('mark', () => {
      const pool = this.#parts.pools.of(name)
      const held = new Set(this.#parts.fences.look(poolResource(name), claim).held)
      return marks.map((asked) => {
        const earlier = findEntry(pool, asked.key, asked.slot)
        const { entry, answer } = mark(earlier, asked, held)
        if (entry !== null) replaceEntry(pool, earlier, entry)
        return answer
      })
    })
  }

  #settleOne(pool: SqlitePool, settlement: Settlement, { now, held }: SettleContext): SettleAnswer {
    const { key, slot, turn } = settlement
    const entry = pool.table.known(settlement) ?? findEntry(pool, key, slot)
    if (entry === undefined) return { result: 'gone', nextDueAt: null }
    if (!holdsTurn(entry, turn)) return { result: 'gone', nextDueAt: liveDueAt(entry) }
    if (!held.has(entry.partition)) return { result: 'refused', nextDueAt: null }
    const { newTurn } = this.#parts.pools
    const context = { now, newTurn, restMs: pool.rests.throttleMs }
    const settled = settle(entry, settlement, context)
    pool.rests.keep(key, restsUntil(settlement.outcome.kind, context))
    const from = now + context.restMs
    const payloads = pool.payloads?.settle(settlement, { before: entry, settled, from })
    if (settled.death !== null)
      this.#bury(pool, settled.entry?.turn ?? newTurn(), { ...settled.death, ...(payloads && { payloads }) })
    if (settled.entry === null) removeEntry(pool, entry)
    else replaceEntry(pool, entry, settled.entry)
    return { result: 'settled', nextDueAt: settled.entry === null ? null : liveDueAt(settled.entry) }
  }

  #bury(pool: SqlitePool, id: number, death: Death): void {
    const { key, slot, payload, seen, reason, error, diedAt } = death
    const group = death.group === key ? null : death.group
    const payloads = death.payloads === undefined ? null : JSON.stringify(death.payloads)
    this.#parts.database
      .statement('add_death')
      .run(id, pool.id, key, slotColumn(slot), payload, seen, reason, error, diedAt, payloads, group)
  }
}

/** The first entries that a cancel removes; of a key with very many slots there are more in the table. */
function entriesOf(pool: SqlitePool, key: string, slot: number | null | undefined): Entry[] {
  if (slot === undefined) return [...pool.journal.ofKey(key), ...pool.table.ofKey(key, CANCELLED_AT_ONCE)]
  const entry = findEntry(pool, key, slot)
  return entry === undefined ? [] : [entry]
}

function takeFrom({ payloads }: SqlitePool, entry: Entry): TakenRun {
  const run = takenRun(entry)
  return payloads === null ? run : { ...run, payloads: payloads.of(entry.key) }
}
