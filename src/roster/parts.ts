// What a member's part in the roster is built from.
import type { Clock } from '../clock.ts'
import type { ServiceState } from '../service.ts'
import type { Store } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Timing } from './settings.ts'
import type { NewMember } from './store.ts'

/** What this member says of itself; its resources are those it shares. */
export type About = Omit<NewMember, 'id' | 'serves'>

export interface RosterParts {
  store: Pick<Store, 'roster' | 'fences'>
  clock: Clock
  telemetry: Telemetry
  timing: Timing
  about(): About
  /** How long a hand-over waits for what is in flight. */
  drainWithinMs: number
  health(): Readonly<Record<string, ServiceState>>
  /** Sends the next pulse at once. */
  pulseSoon(): void
}
