// What tests and the simulator hand to a Headrace instead of the real thing; never set by configuration.
import type { Clock } from './clock.ts'
import type { Faults } from './fault.ts'
import type { Store } from './store.ts'

export interface Overrides {
  clock?: Clock
  faults?: Faults
  /** A store that is open already, as several members of one process share it. */
  store?: Store
  /** Where lines of the log go if no logger was given; default stderr. */
  print?: (line: string) => void
}
