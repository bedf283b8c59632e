// Named locks: a row each.
import type { HeldLock, LockRequest, LockStore } from '../../roster/store.ts'
import type { Call, Connections, Row } from './connections.ts'
import { OTHER, READ } from './pools.ts'

/** Taken again by its holder, a lock is renewed. */
const ACQUIRE: Call = { operation: 'commit', timeoutMs: 5000, again: 'exact' }

export class PostgresLocks implements LockStore {
  readonly #connections: Connections

  constructor(connections: Connections) {
    this.#connections = connections
  }

  async acquire({ name, holder, ttlMs }: LockRequest): Promise<HeldLock | null> {
    const [row] = await this.#connections.query('acquire', [name, holder, ttlMs], ACQUIRE)
    return row === undefined ? null : toLock(row)
  }

  async release(name: string, holder: string): Promise<boolean> {
    return (await this.#connections.query('release', [name, holder], OTHER)).length > 0
  }

  async held(): Promise<HeldLock[]> {
    return (await this.#connections.query('held_locks', [], READ)).map(toLock)
  }
}

function toLock(row: Row): HeldLock {
  return {
    name: row['name'] as string,
    holder: row['holder'] as string,
    token: row['token'] as number,
    expiresAt: row['expires_at'] as number,
  }
}
