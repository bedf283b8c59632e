// A pool of ticks and its topic in the store under test.
import type { Claim } from '../fence.ts'
import type { PoolSettings } from '../pool/store.ts'
import type { Moved, Store } from '../store.ts'
import { type TopicDriver, openTopic } from './log-driver.ts'
import { MANY, type PoolDriver, openPool } from './pool-driver.ts'

export interface TicksDriver {
  pool: PoolDriver
  topic: TopicDriver
  move(limit?: number, claim?: Claim): Promise<Moved>
}

export async function openTicks(store: Store, settings: Partial<PoolSettings> = {}): Promise<TicksDriver> {
  const pool = await openPool(store, { name: 'ticks', mode: 'each', ...settings })
  const topic = await openTopic(store, { name: 'ticked', partitions: 2 })
  const move = (limit = MANY, claim = pool.claim): Promise<Moved> =>
    store.mover.move({ pool: 'ticks', topic: 'ticked', limit, claim })
  return { pool, topic, move }
}
