// The control records of pools: each method is one transaction.
import { type Control, NO_CONTROL } from '../../pool/control.ts'
import type { Controlled, ControlStore } from '../../pool/store.ts'
import type { SqliteEntriesParts } from './entries.ts'

export class SqliteControl implements ControlStore {
  readonly #parts: SqliteEntriesParts

  constructor(parts: SqliteEntriesParts) {
    this.#parts = parts
  }

  async read(name: string): Promise<Controlled> {
    const { session, pools, database } = this.#parts
    return session.read(() => {
      const row = database.statement('read_control').get(pools.of(name).id)
      const control = row === undefined ? NO_CONTROL : (JSON.parse(row['control'] as string) as Control)
      return { now: this.#parts.now(), version: (row?.['version'] as number | undefined) ?? 0, control }
    })
  }

  async write(name: string, version: number, control: Control): Promise<number | null> {
    const { session, pools, database } = this.#parts
    const written = await session.write('other', () => {
      const pool = pools.of(name)
      if (this.version(name) !== version) return null
      database.statement('save_control').run(pool.id, version + 1, JSON.stringify(control))
      return version + 1
    })
    if (written !== null) this.#parts.hint({ kind: 'control', pool: name })
    return written
  }

  /** Within a transaction. */
  version(name: string): number {
    const row = this.#parts.database.statement('control_version').get(this.#parts.pools.of(name).id)
    return (row?.['version'] as number | undefined) ?? 0
  }
}
