// What a worker is made of.
import type { Clock } from '../clock.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { Store } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Pool } from './pool.ts'
import type { Handler } from './run.ts'
import type { Solitude } from './solitude.ts'
import type { WorkMeters } from './work-meter.ts'
import type { WorkRules } from './work-options.ts'

export interface WorkerParts<Payload> {
  pool: Pool
  handler: Handler<Payload>
  rules: WorkRules
  store: Pick<Store, 'pool' | 'watch'>
  /** Which partitions of the pool are this member's. */
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  /** Told of every run. */
  meter: WorkMeters
  /** How long a stop lets handlers end by themselves. */
  drainWithinMs: number
  /** Of all workers of the member; its own unless given. */
  solitude?: Solitude
}
