// What a limiter is made of.
import type { Clock } from '../clock.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { StoreTime } from '../store-time.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Control } from './control.ts'
import type { Lane } from './entry.ts'
import type { Flight } from './run.ts'
import type { ControlStore } from './store.ts'

export interface LimiterParts {
  pool: string
  control: ControlStore
  ownership: Ownership
  clock: Clock
  time: StoreTime
  telemetry: Telemetry
  /** How many handlers the worker runs at once, at most. */
  concurrency: number
  running(): ReadonlySet<Flight>
  /** Whether something waits, or may be due. */
  isHungry(): boolean
  lookBack(lane: Lane, dueAt: number): void
  /** Nothing may start for a while: what waits is let go. */
  letGo(): void
  /** What steers the pool was read. */
  learned(control: Control): void
  /** Something may start that could not. */
  wake(): void
}
