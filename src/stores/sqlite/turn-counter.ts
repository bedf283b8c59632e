// Turn numbers: a counter in the file, mirrored in memory so that a turn costs nothing. Numbers of a rolled
// back transaction are given again; nobody has seen them.
import type { Database } from './database.ts'
import type { Mirror } from './work.ts'

export class TurnCounter implements Mirror {
  readonly #database: Database
  #next = 0
  #saved = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** The first of `count` new turns, one after another. */
  take(count: number): number {
    const first = this.#next
    this.#next += count
    return first
  }

  refresh(): void {
    this.#saved = this.#database.statement('next_turn').get()?.['next'] as number
    this.#next = this.#saved
  }

  flush(): void {
    if (this.#next !== this.#saved) this.#database.statement('save_next_turn').run(this.#next)
  }

  committed(): void {
    this.#saved = this.#next
  }

  rolledBack(): void {
    this.#next = this.#saved
  }
}
