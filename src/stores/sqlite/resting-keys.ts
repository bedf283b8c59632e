// The keys of a throttled pool that rest after a run, and until when. They stand among the fired slots of the file, with no
// slot, and are forgotten with them. Rules [M11] to [M13] of docs/spec/pool.md.
import type { Database } from './database.ts'
import type { Mirror } from './work.ts'
import { slotColumn } from './entry-table.ts'

export class RestingKeys implements Mirror {
  readonly #database: Database
  readonly #pool: number
  /** 0: nothing rests, and the file need not be asked. */
  #throttleMs = 0
  /** What it was before this transaction; null: the same. */
  #before: number | null = null

  constructor(database: Database, pool: number) {
    this.#database = database
    this.#pool = pool
  }

  get throttleMs(): number {
    return this.#throttleMs
  }

  /** Takes what this transaction has written into the file. */
  change(throttleMs: number): void {
    this.#before ??= this.#throttleMs
    this.#throttleMs = throttleMs
  }

  /** Until when the key rests; 0: it does not. */
  of(key: string): number {
    if (this.#throttleMs === 0) return 0
    const row = this.#database.statement('rest_of').get(this.#pool, key, slotColumn(null))
    return (row?.['until'] as number | undefined) ?? 0
  }

  /** Takes what a settle says; null leaves it. */
  keep(key: string, until: number | null): void {
    if (until === 0) this.forget(key)
    else if (until !== null)
      this.#database.statement('add_fired').run(this.#pool, key, slotColumn(null), until)
  }

  forget(key: string): void {
    if (this.#throttleMs > 0) this.#database.statement('forget_rest').run(this.#pool, key, slotColumn(null))
  }

  refresh(): void {
    this.#throttleMs = this.#database.statement('throttle_of').get(this.#pool)?.['throttle_ms'] as number
  }

  flush(): void {}

  committed(): void {
    this.#before = null
  }

  rolledBack(): void {
    this.#throttleMs = this.#before ?? this.#throttleMs
    this.#before = null
  }
}
