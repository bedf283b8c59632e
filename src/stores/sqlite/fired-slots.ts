// The fired slots of a pool that are remembered, and for how long. What the file holds counts, whichever process wrote it:
// every opening remembers for as long as the last one set.
import type { Database } from './database.ts'
import type { Mirror } from './work.ts'

export class FiredSlots implements Mirror {
  readonly #database: Database
  readonly #pool: number
  /** 0: nothing is remembered, and the file need not be asked. */
  #rememberMs = 0
  /** What it was before this transaction; null: the same. */
  #before: number | null = null

  constructor(database: Database, pool: number) {
    this.#database = database
    this.#pool = pool
  }

  /** Takes what this transaction has written into the file. */
  change(rememberMs: number): void {
    this.#before ??= this.#rememberMs
    this.#rememberMs = rememberMs
  }

  /** Has the slot fired, and is it remembered? Mode `one` has no slots. */
  has(key: string, slot: number | null, now: number): boolean {
    if (slot === null || this.#rememberMs === 0) return false
    return this.#database.statement('is_fired').get(this.#pool, key, slot, now) !== undefined
  }

  add(key: string, slot: number | null, now: number): void {
    if (slot === null || this.#rememberMs === 0) return
    this.#database.statement('add_fired').run(this.#pool, key, slot, now + this.#rememberMs)
  }

  refresh(): void {
    this.#rememberMs = this.#database.statement('remember_of').get(this.#pool)?.['remember_ms'] as number
  }

  flush(): void {}

  committed(): void {
    this.#before = null
  }

  rolledBack(): void {
    this.#rememberMs = this.#before ?? this.#rememberMs
    this.#before = null
  }
}
