// What steers pools, in memory. Kept as text, as every other store does: what was read is nobody else's.
import type { Clock } from '../../clock.ts'
import { type Control, NO_CONTROL } from '../../pool/control.ts'
import type { Controlled, ControlStore } from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'

export interface ControlParts {
  clock: Clock
  commit: Commit
  hint: (hint: Hint) => void
}

export class MemoryControl implements ControlStore {
  readonly #parts: ControlParts
  readonly #kept = new Map<string, { version: number; text: string }>()

  constructor(parts: ControlParts) {
    this.#parts = parts
  }

  version(pool: string): number {
    return this.#kept.get(pool)?.version ?? 0
  }

  async read(pool: string): Promise<Controlled> {
    const kept = this.#kept.get(pool)
    const control = kept === undefined ? NO_CONTROL : (JSON.parse(kept.text) as Control)
    return { now: this.#parts.clock.now(), version: kept?.version ?? 0, control }
  }

  async write(pool: string, version: number, control: Control): Promise<number | null> {
    return this.#parts.commit('put', () => {
      if (this.version(pool) !== version) return null
      this.#kept.set(pool, { version: version + 1, text: JSON.stringify(control) })
      this.#parts.hint({ kind: 'control', pool })
      return version + 1
    })
  }
}
