// Due entries become events: append and remove in one transaction, hence exactly once.
import { poolResource } from '../../fence.ts'
import { type Entry, LANES } from '../../pool/entry.ts'
import { restsUntil, settle } from '../../pool/settle.ts'
import { tickEvent } from '../../pool/tick-event.ts'
import type { MoveRequest, Moved, Mover } from '../../store.ts'
import type { Database } from './database.ts'
import type { SqliteFences } from './fences.ts'
import type { SqliteLog } from './log.ts'
import { type Pools, type SqlitePool, dueEntries, nextDueAt, removeEntry, replaceEntry } from './pools.ts'
import type { Session } from './session.ts'
import type { Transaction } from './work.ts'
import type { Topics } from './topics.ts'

export interface SqliteMoverParts {
  database: Database
  session: Session
  pools: Pools
  topics: Topics
  log: SqliteLog
  fences: SqliteFences
  now(): number
}

export class SqliteMover implements Mover {
  readonly #parts: SqliteMoverParts

  constructor(parts: SqliteMoverParts) {
    this.#parts = parts
  }

  /** Looks before it writes: nothing due, or nothing held, costs no transaction. Does not wait for the disk. [J8] */
  async move(request: MoveRequest): Promise<Moved> {
    const { session, pools, fences } = this.#parts
    const { next, refused } = session.look(() => {
      const looked = fences.look(poolResource(request.pool), request.claim)
      return { next: nextDueAt(pools.of(request.pool), looked.held), refused: looked.refused }
    })
    const now = this.#parts.now()
    if (next === null || next > now) return { count: 0, now, latenessMs: [], nextDueAt: next, refused }
    return session.write('move', (tx) => this.#moveIn(tx, request))
  }

  #moveIn(tx: Transaction, { pool: name, topic: topicName, limit, claim }: MoveRequest): Moved {
    const { now } = tx
    const pool = this.#parts.pools.of(name)
    const topic = this.#parts.topics.of(topicName)
    const { partitions } = topic.settings
    const { held, refused } = this.#parts.fences.look(poolResource(name), claim)
    // Lanes are for takers: ticks of all of them move in one due order.
    const entries = dueEntries(pool, { partitions: held, lanes: LANES, from: -Infinity, until: now, limit })
    const events = entries.map(({ key, slot, next }) => {
      return tickEvent(name, { key, slot, dueAt: next.dueAt, payload: next.payload }, { now, partitions })
    })
    this.#parts.log.appendIn(tx, topic, events)
    for (const entry of entries) this.#fire(pool, entry, now)
    const latenessMs = entries.map((entry) => now - entry.next.dueAt)
    return { count: entries.length, now, latenessMs, nextDueAt: nextDueAt(pool, held), refused }
  }

  #fire(pool: SqlitePool, entry: Entry, now: number): void {
    const { key, slot, turn, next } = entry
    const settlement = { key, slot, turn, seen: next.tally, outcome: { kind: 'done' } } as const
    const context = { now, newTurn: this.#parts.pools.newTurn, restMs: pool.rests.throttleMs }
    const settled = settle(entry, settlement, context)
    pool.rests.keep(key, restsUntil('done', context))
    if (settled.entry === null) removeEntry(pool, entry)
    else replaceEntry(pool, entry, settled.entry)
    pool.fired.add(key, slot, now)
  }
}
