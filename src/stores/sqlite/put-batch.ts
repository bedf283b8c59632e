// The puts of one transaction: find the entry, apply the put table, write what became of it. A key that stands several
// times in a request is read and written once.
import { partitionOf } from '../../partition.ts'
import type { Entry } from '../../pool/entry.ts'
import { type Put, type PutAnswer, merge, slotOf } from '../../pool/merge.ts'
import { reschedule } from '../../pool/reschedule.ts'
import { laneOf } from '../../pool/settings.ts'
import type { PutRequest, PutResponse, Reschedule, RescheduleAnswer } from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Database } from './database.ts'
import { type Pools, type SqlitePool, removeEntry, replaceEntry } from './pools.ts'
import type { Transaction } from './work.ts'

export interface PutBatchParts {
  database: Database
  pools: Pools
  hint(hint: Hint): void
}

export class PutBatch {
  readonly #parts: PutBatchParts
  readonly #pool: SqlitePool
  readonly #tx: Transaction
  /** Asked once: most puts find nothing in the table, and often it is empty. */
  #tableIsEmpty: boolean
  #earliest = Infinity
  /** In mode one: what a request has changed so far, by key. Written when it has ended. */
  readonly #changed = new Map<string, { earlier: Entry | undefined; entry: Entry }>()

  constructor(parts: PutBatchParts, pool: SqlitePool, tx: Transaction) {
    this.#parts = parts
    this.#pool = pool
    this.#tx = tx
    this.#tableIsEmpty = pool.settings.mode === 'each' && pool.table.isEmpty()
  }

  answer(request: PutRequest): PutResponse {
    const { repeat } = request
    if (repeat === null) return this.#apply(request.puts)
    const { database } = this.#parts
    const kept = database.statement('find_answer').get(this.#pool.id, repeat.id, this.#tx.now)
    if (kept !== undefined) {
      if (kept['fingerprint'] !== repeat.fingerprint) return { kind: 'mismatch' }
      return {
        kind: 'answered',
        answers: JSON.parse(kept['answers'] as string) as PutAnswer[],
        replayed: true,
      }
    }
    const response = this.#apply(request.puts)
    if (response.kind !== 'answered') return response
    const until = this.#tx.now + repeat.keepMs
    database
      .statement('add_answer')
      .run(this.#pool.id, repeat.id, repeat.fingerprint, JSON.stringify(response.answers), until)
    return response
  }

  #put(put: Put): PutAnswer {
    const { mode, partitions } = this.#pool.settings
    const { now } = this.#tx
    const slot = slotOf(put, { mode, now })
    const existing = this.#find(put.key, slot)
    const partition = existing?.state === 'live' ? existing.partition : partitionOf(put.group, partitions)
    const fired = existing?.state !== 'live' && this.#pool.fired.has(put.key, slot, now)
    const { newTurn } = this.#parts.pools
    const lane = laneOf(this.#pool.settings)
    const restsUntil = slot === null ? this.#pool.rests.of(put.key) : 0
    const context = { mode, now, partition, lane, fired, restsUntil, newTurn }
    const { entry, answer, into } = merge(existing, put, context)
    if (entry !== undefined && entry !== existing) {
      this.#write(existing, entry, answer)
      this.#pool.payloads?.add(put, { result: answer.result, into })
    }
    return answer
  }

  /** Moves an entry to another time, unless that is too late. [C2] */
  reschedule({ key, slot, at }: Reschedule): RescheduleAnswer {
    const { mode } = this.#pool.settings
    const { now } = this.#tx
    const entry = this.#find(key, slot)
    const to = mode === 'each' ? at : null
    const fired = this.#pool.fired.has(key, to, now)
    const taken = to !== slot && this.#find(key, to)?.state === 'live'
    const restsUntil = slot === null ? this.#pool.rests.of(key) : 0
    const { newTurn } = this.#parts.pools
    const decided = reschedule(entry, at, { mode, now, fired, taken, restsUntil, newTurn })
    switch (decided.kind) {
      case 'absent':
      case 'due':
      case 'exists':
        return decided
      case 'anew':
        // In mode one the put itself takes the place of the dead entry.
        if (entry !== undefined && mode === 'each') removeEntry(this.#pool, entry)
        return { kind: 'moved', answer: this.#putAll([decided.put])[0] as PutAnswer }
      case 'moved':
        this.#write(entry, decided.entry, decided.answer)
        this.#writeChanged()
        return { kind: 'moved', answer: decided.answer }
    }
  }

  #apply(puts: Put[]): PutResponse {
    const { payloads } = this.#pool
    const apply = (): PutResponse => {
      return { kind: 'answered', answers: this.#putAll(puts), replayed: false }
    }
    return payloads === null ? apply() : payloads.request(this.#pool.settings.name, apply)
  }

  #putAll(puts: readonly Put[]): PutAnswer[] {
    try {
      const answers = puts.map((put) => this.#put(put))
      this.#writeChanged()
      return answers
    } finally {
      // A request that was refused has changed nothing.
      this.#changed.clear()
    }
  }

  #writeChanged(): void {
    for (const { earlier, entry } of this.#changed.values()) replaceEntry(this.#pool, earlier, entry)
    this.#changed.clear()
  }

  #find(key: string, slot: number | null): Entry | undefined {
    if (slot === null) return this.#changed.get(key)?.entry ?? this.#pool.table.find(key, slot)
    const young = this.#pool.journal.get(key, slot)
    if (young !== undefined || this.#tableIsEmpty) return young
    return this.#pool.table.find(key, slot)
  }

  #write(existing: Entry | undefined, entry: Entry, answer: PutAnswer): void {
    if (entry.slot === null) {
      const changed = this.#changed.get(entry.key)
      this.#changed.set(entry.key, { earlier: changed === undefined ? existing : changed.earlier, entry })
    } else if (existing === undefined && this.#isYoung(entry)) this.#pool.journal.add(entry)
    else {
      replaceEntry(this.#pool, existing, entry)
      this.#tableIsEmpty = false
    }
    this.#announce(answer.dueAt)
  }

  /** A new entry that is nothing special begins its life in the journal. */
  #isYoung({ slot, lane, group, key }: Entry): boolean {
    return slot !== null && lane === 'normal' && group === key && this.#pool.journal.hasRoom
  }

  /** One hint for the whole batch, with its earliest due time. */
  #announce(dueAt: number): void {
    if (this.#earliest === Infinity) {
      const pool = this.#pool.settings.name
      this.#tx.afterCommit(() => this.#parts.hint({ kind: 'put', pool, dueAt: this.#earliest }))
    }
    if (dueAt < this.#earliest) this.#earliest = dueAt
  }
}
