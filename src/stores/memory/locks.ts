// Named locks in memory.
import type { Clock } from '../../clock.ts'
import type { HeldLock, LockRequest, LockStore } from '../../roster/store.ts'
import type { Commit } from './commit.ts'
import type { Keep } from './snapshots.ts'

export class MemoryLocks implements LockStore {
  readonly #locks = new Map<string, HeldLock>()
  readonly #clock: Clock
  readonly #commit: Commit
  /** No new token is lower. */
  #least = 0

  constructor({ clock, commit }: { clock: Clock; commit: Commit }) {
    this.#clock = clock
    this.#commit = commit
  }

  async acquire(request: LockRequest): Promise<HeldLock | null> {
    return this.#commit('roster', () => this.#acquire(request))
  }

  #acquire({ name, holder, ttlMs }: LockRequest): HeldLock | null {
    const now = this.#clock.now()
    const lock = this.#locks.get(name)
    const isFree = lock === undefined || lock.expiresAt <= now
    if (!isFree && lock.holder !== holder) return null
    const token = isFree ? Math.max((lock?.token ?? 0) + 1, this.#least) : lock.token
    const held = { name, holder, token, expiresAt: now + ttlMs }
    this.#locks.set(name, held)
    return { ...held }
  }

  async release(name: string, holder: string): Promise<boolean> {
    return this.#commit('roster', () => this.#release(name, holder))
  }

  #release(name: string, holder: string): boolean {
    const lock = this.#locks.get(name)
    if (lock === undefined || lock.holder !== holder || lock.expiresAt <= this.#clock.now()) return false
    // Its token must not be given again, so the lock stays, free. Now may be in the future once the clock is set back.
    lock.expiresAt = 0
    return true
  }

  async held(): Promise<HeldLock[]> {
    const now = this.#clock.now()
    const held = [...this.#locks.values()].filter(({ expiresAt }) => expiresAt > now)
    return held.map((lock) => ({ ...lock })).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  readonly snapshot: Keep = () => {
    const kept = [...this.#locks.values()].map((lock) => ({ ...lock }))
    return (least) => {
      this.#least = least
      this.#locks.clear()
      for (const lock of kept) this.#locks.set(lock.name, { ...lock })
    }
  }
}
