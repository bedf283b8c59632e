// Due entries become events: append and remove in one transaction, hence exactly once.
import { type Entry, LANES } from '../../pool/entry.ts'
import { byDue } from '../../pool/order.ts'
import { settle } from '../../pool/settle.ts'
import { tickEvent } from '../../pool/tick-event.ts'
import type { MoveRequest, Moved, Mover } from '../../store.ts'
import type { Database } from './database.ts'
import type { SqliteLog } from './log.ts'
import { type Pools, type SqlitePool, dueEntries, nextDueAt, removeEntry, replaceEntry } from './pools.ts'
import type { Session, Transaction } from './session.ts'
import type { Topics } from './topics.ts'

export interface SqliteMoverParts {
  database: Database
  session: Session
  pools: Pools
  topics: Topics
  log: SqliteLog
  now(): number
}

export class SqliteMover implements Mover {
  readonly #parts: SqliteMoverParts

  constructor(parts: SqliteMoverParts) {
    this.#parts = parts
  }

  /** Looks before it writes: nothing due costs no transaction. */
  async move(request: MoveRequest): Promise<Moved> {
    const pool = this.#parts.pools.of(request.pool)
    const next = this.#parts.session.read(() => nextDueAt(pool))
    const now = this.#parts.now()
    if (next === null || next > now) return { count: 0, now, latenessMs: [], nextDueAt: next }
    return this.#parts.session.write('move', (tx) => this.#moveIn(tx, pool, request))
  }

  #moveIn(tx: Transaction, pool: SqlitePool, { topic: topicName, limit }: MoveRequest): Moved {
    const { now } = tx
    const topic = this.#parts.topics.of(topicName)
    const { partitions } = topic.settings
    const entries = this.#due(pool, now, limit)
    const events = entries.map(({ key, slot, next }) => {
      return tickEvent(
        pool.settings.name,
        { key, slot, dueAt: next.dueAt, payload: next.payload },
        { now, partitions },
      )
    })
    this.#parts.log.appendIn(tx, topic, events)
    for (const entry of entries) this.#fire(pool, entry, now)
    const latenessMs = entries.map((entry) => now - entry.next.dueAt)
    return { count: entries.length, now, latenessMs, nextDueAt: nextDueAt(pool) }
  }

  /** Lanes are for takers: ticks of all of them move in one due order. */
  #due(pool: SqlitePool, now: number, limit: number): Entry[] {
    const lanes = LANES.map((lane) =>
      dueEntries(pool, { partitions: null, lane, from: -Infinity, limit }, now),
    )
    const filled = lanes.filter((entries) => entries.length > 0)
    return filled.length <= 1 ? (filled[0] ?? []) : filled.flat().toSorted(byDue).slice(0, limit)
  }

  #fire(pool: SqlitePool, entry: Entry, now: number): void {
    const { key, slot, turn, next } = entry
    const settlement = { key, slot, turn, seen: next.tally, outcome: { kind: 'done' } } as const
    const settled = settle(entry, settlement, { now, newTurn: this.#parts.pools.newTurn })
    if (settled.entry === null) removeEntry(pool, entry)
    else replaceEntry(pool, entry, settled.entry)
    pool.fired.add(key, slot, now)
  }
}
