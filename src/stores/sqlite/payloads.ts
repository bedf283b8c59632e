// The payloads of a pool that keeps them all, as rows of their own; what a refused request did is undone.
import { Full, type PutInto, settledPayloads, tooMuch } from '../../pool/payloads.ts'
import type { Entry } from '../../pool/entry.ts'
import type { Settled, Settlement } from '../../pool/settle.ts'
import type { PutResponse } from '../../pool/store.ts'
import type { Database } from './database.ts'
import type { EntryTable } from './entry-table.ts'

export class SqlitePayloads {
  readonly #database: Database
  readonly #pool: number
  readonly #table: EntryTable

  constructor(database: Database, pool: number, table: EntryTable) {
    this.#database = database
    this.#pool = pool
    this.#table = table
  }

  /** Those of the next run. */
  of(key: string): string[] {
    const rows = this.#database.statement('payloads_of').all(this.#pool, key, 0)
    return rows.map((row) => row['payload'] as string)
  }

  /** Of a run that was created or replaced the earlier ones go first. */
  add({ key, payload }: { key: string; payload: string | undefined }, did: PutInto): void {
    if (did.result === 'kept') return
    const after = did.into === 'after' ? 1 : 0
    if (did.result === 'created') this.forget(key)
    if (did.result === 'replaced') this.#database.statement('drop_payloads').run(this.#pool, key, after)
    if (payload === undefined) return
    this.#database.statement('add_payload').run(this.#pool, key, after, payload)
    const weight = this.#database.statement('weigh_payloads').get(this.#pool, key)
    const most = tooMuch(weight as unknown as { count: number; bytes: number })
    if (most !== null) throw new Full(key, most)
  }

  /** Settles a run; answers what of its payloads is recorded with its death. */
  settle(
    settlement: Settlement,
    { before, settled, from }: { before: Entry; settled: Settled; from: number },
  ): string[] {
    const { key, seenPayloads = 0 } = settlement
    const seen = settled.death === null ? [] : this.of(key).slice(0, seenPayloads)
    const became = settledPayloads({ before, now: settled.entry }, settlement, from)
    if (became === 'gone') this.forget(key)
    if (became === 'seen are gone')
      this.#database.statement('drop_first_payloads').run(this.#pool, key, seenPayloads)
    if (became === 'those of after are next') {
      this.#database.statement('drop_payloads').run(this.#pool, key, 0)
      this.#database.statement('promote_payloads').run(this.#pool, key)
    }
    return seen
  }

  forget(key: string): void {
    this.#database.statement('forget_payloads').run(this.#pool, key)
  }

  /** Applies a request whole, or not at all. */
  request(pool: string, apply: () => PutResponse): PutResponse {
    // What is undone is what the request did, and nothing that waited to be written before it.
    this.#table.flush()
    this.#database.statement('begin_request').run()
    try {
      const response = apply()
      this.#database.statement('end_request').run()
      return response
    } catch (error) {
      if (!(error instanceof Full)) throw error
      this.#database.statement('undo_request').run()
      this.#database.statement('end_request').run()
      this.#table.rolledBack()
      return { kind: 'refused', pool, key: error.key, most: error.most }
    }
  }
}
