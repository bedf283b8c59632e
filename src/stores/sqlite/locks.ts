// Named locks: a row each, decided under the write lock.
import type { HeldLock, LockRequest, LockStore } from '../../roster/store.ts'
import type { Database } from './database.ts'
import type { Session } from './session.ts'
import type { Transaction } from './work.ts'

export interface SqliteLocksParts {
  database: Database
  session: Session
  now(): number
}

interface LockRow {
  name: string
  holder: string
  token: number
  expires_at: number
}

export class SqliteLocks implements LockStore {
  readonly #parts: SqliteLocksParts

  constructor(parts: SqliteLocksParts) {
    this.#parts = parts
  }

  acquire(request: LockRequest): Promise<HeldLock | null> {
    return this.#parts.session.write('roster', (tx) => this.#acquireIn(tx, request))
  }

  #acquireIn({ now }: Transaction, { name, holder, ttlMs }: LockRequest): HeldLock | null {
    const { database } = this.#parts
    const lock = database.statement('find_lock').get(name) as LockRow | undefined
    const isFree = lock === undefined || lock.expires_at <= now
    if (!isFree && lock.holder !== holder) return null
    const token = isFree ? (lock?.token ?? 0) + 1 : lock.token
    const expiresAt = now + ttlMs
    database.statement('save_lock').run(name, holder, token, expiresAt)
    return { name, holder, token, expiresAt }
  }

  release(name: string, holder: string): Promise<boolean> {
    return this.#parts.session.write('roster', ({ now }) => {
      return this.#parts.database.statement('free_lock').run(name, holder, now).changes > 0
    })
  }

  async held(): Promise<HeldLock[]> {
    return this.#parts.session.read(() => {
      const rows = this.#parts.database.statement('held_locks').all(this.#parts.now()) as unknown as LockRow[]
      return rows.map(toLock).sort((a, b) => (a.name < b.name ? -1 : 1))
    })
  }
}

function toLock({ name, holder, token, expires_at: expiresAt }: LockRow): HeldLock {
  return { name, holder, token, expiresAt }
}
