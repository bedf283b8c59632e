// When a worker reads what steers its pool: until it knows that, nothing starts, and what was taken waits. Rule [L12] of
// docs/spec/limits.md.
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store.ts'
import { JOBS } from './jobs.ts'

export class JobSteering {
  readonly #clock: Clock
  #underWay = 0
  #readAt = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether it is being read, or was in this very moment. */
  get isBeingRead(): boolean {
    return this.#underWay > 0 || this.#readAt === this.#clock.mono()
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    const { control } = store.pool
    const read = async (pool: string): ReturnType<typeof control.read> => {
      if (pool !== JOBS) return control.read(pool)
      this.#underWay += 1
      try {
        return await control.read(pool)
      } finally {
        this.#underWay -= 1
        this.#readAt = this.#clock.mono()
      }
    }
    return { ...store, pool: { ...store.pool, control: { ...control, read } } }
  }
}
