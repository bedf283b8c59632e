// Every version of what steers the pool of jobs, as the store has kept it: a member that has not heard of the last goes by
// an earlier one. Rule [L11] of docs/spec/limits.md.
import { type Control, NO_CONTROL } from '../../pool/control.ts'
import type { Controlled } from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import { JOBS } from './jobs.ts'

/** What a limit is of. */
export type Scope = 'group' | 'pool'

export class SteerHistory {
  readonly #versions: Control[] = [NO_CONTROL]
  /** From which version on each rate has the span that it has now. */
  readonly #spanSince: Record<Scope, number> = { group: 0, pool: 0 }
  /** From which version on each rate is spread, or is not. */
  readonly #spreadSince: Record<Scope, number> = { group: 0, pool: 0 }
  readonly #written: (before: Control, after: Control) => void

  constructor(written: (before: Control, after: Control) => void = () => undefined) {
    this.#written = written
  }

  /** The same store, watched. Its calls must come one after the other. */
  wrap(store: Store): Store {
    const { control } = store.pool
    const write: typeof control.write = (pool, version, after) => {
      const call = control.write(pool, version, after)
      const written = (answer: number | null): void => {
        if (pool === JOBS && answer !== null) this.#add(after)
      }
      // Who waits for it goes on in the same order as if nobody watched.
      void call.then(written, () => undefined)
      return call
    }
    const read: typeof control.read = (pool) => control.read(pool)
    return { ...store, pool: { ...store.pool, control: { read, write } } }
  }

  /** The store went back, and keeps this now. */
  wentBack({ version, control }: Pick<Controlled, 'version' | 'control'>): void {
    if (version > this.last) this.#add(control)
  }

  #add(after: Control): void {
    const before = this.current
    this.#versions.push(after)
    for (const scope of ['group', 'pool'] as const) {
      const [was, is] = [before.limits[scope].rate, after.limits[scope].rate]
      if (was?.perMs !== is?.perMs) this.#spanSince[scope] = this.last
      if (was?.spread !== is?.spread) this.#spreadSince[scope] = this.last
    }
    this.#written(before, after)
  }

  /** The number of the last version. */
  get last(): number {
    return this.#versions.length - 1
  }

  get current(): Control {
    return this.at(this.last)
  }

  at(version: number): Control {
    return this.#versions[version] ?? NO_CONTROL
  }

  /** From which version on the rate has had its span; null: there is no rate. */
  spanSince(scope: Scope): number | null {
    return this.current.limits[scope].rate === null ? null : this.#spanSince[scope]
  }

  /** From which version on the rate has had its span and was spread; null: it is not spread. */
  spreadSince(scope: Scope): number | null {
    if (this.current.limits[scope].rate?.spread !== true) return null
    return Math.max(this.#spanSince[scope], this.#spreadSince[scope])
  }

  /** The most that one of the versions since this one allows; Infinity: one has no such limit. */
  most(since: number, of: (control: Control) => number | null): number {
    let most = 0
    for (let version = since; version <= this.last; version += 1)
      most = Math.max(most, of(this.at(version)) ?? Infinity)
    return most
  }

  /** Whether this is true of every version since that one. */
  every(since: number, isTrue: (control: Control) => boolean): boolean {
    for (let version = since; version <= this.last; version += 1) if (!isTrue(this.at(version))) return false
    return true
  }
}
