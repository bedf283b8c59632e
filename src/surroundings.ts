// What a Headrace is handed from outside: by tests and the simulator, never by configuration.
import type { Clock } from './clock.ts'
import type { Faults } from './fault.ts'
import type { Store } from './store.ts'

export interface Surroundings {
  clock?: Clock
  faults?: Faults
  /** A store that is open already, as several members of one process share it. */
  store?: Store
}
