// The control records of pools, in memory. Kept as text, as in every other store, so that no reader shares an object.
import type { Clock } from '../../clock.ts'
import { type Control, NO_CONTROL } from '../../pool/control.ts'
import type { Controlled, ControlStore } from '../../pool/store.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import type { Keep } from './snapshots.ts'

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

  /** The control of that time gets a new version, so that members that know a later one read it again. */
  readonly snapshot: Keep = () => {
    const kept = new Map(this.#kept)
    return () => {
      for (const [pool, { version }] of this.#kept) {
        const text = kept.get(pool)?.text ?? JSON.stringify(NO_CONTROL)
        this.#kept.set(pool, { version: version + 1, text })
      }
    }
  }
}
