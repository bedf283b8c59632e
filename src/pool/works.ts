// The workers of one member, one for each pool: two would run a key at once, since each knows only what is its own.
import { describe } from '../check.ts'
import { HeadraceError } from '../errors.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { Service } from '../service.ts'
import type { Pulse, PulseRequest } from '../store.ts'
import { Pool } from './pool.ts'
import type { Handler } from './run.ts'
import { Solitude } from './solitude.ts'
import type { WorkRules } from './work-options.ts'
import { Worker } from './worker.ts'
import type { WorkerParts } from './worker-parts.ts'

export type WorksParts = Pick<
  WorkerParts<unknown>,
  'store' | 'clock' | 'telemetry' | 'meter' | 'drainWithinMs'
>

export interface Asked<Payload> {
  pool: Pool
  handler: Handler<Payload>
  rules: WorkRules
  ownership: Ownership
}

export class Works {
  readonly #parts: WorksParts
  readonly #workers = new Map<string, Worker>()
  readonly #solitude: Solitude

  constructor(parts: WorksParts) {
    this.#parts = parts
    this.#solitude = new Solitude(parts.clock, parts.drainWithinMs)
  }

  /** The pools that are worked on here. */
  get pools(): string[] {
    return [...this.#workers.keys()]
  }

  get services(): Service[] {
    return [...this.#workers.values()].map(({ service }) => service)
  }

  /** What they ask of the next pulse. */
  get asked(): PulseRequest['pools'] {
    return [...this.#workers.values()].flatMap((worker) => worker.ask())
  }

  add<Payload>({ pool, handler, rules, ownership }: Asked<Payload>): Worker<Payload> {
    const worker = new Worker<Payload>({
      ...this.#parts,
      pool,
      handler,
      rules,
      ownership,
      solitude: this.#solitude,
    })
    this.#workers.set(pool.name, worker as Worker)
    return worker
  }

  notice(pulse: Pulse, sentAt: number): void {
    for (const worker of this.#workers.values()) worker.notice(pulse, sentAt)
  }

  /** Refuses a pool that has a worker already. */
  refuse(pool: string): void {
    if (this.#workers.has(pool)) throw refuseTaken(pool, 'a worker')
  }

  /** Refuses a second worker, and work that could never be done: who does not join owns nothing, and another's pool is in another's store. */
  refuseIdle(pool: Pool, known: Pool | undefined, join: 'yes' | 'no'): void {
    this.refuse(pool.name)
    if (pool !== known) {
      throw new HeadraceError('invalid_options', `the pool ${pool.name} is of another Headrace`, {
        remedy: 'work on it where it was made, or make one here with the pool() of this one',
      })
    }
    if (join === 'yes') return
    throw new HeadraceError(
      'invalid_options',
      `a member that does not join does no work of the pool ${pool.name}`,
      {
        remedy: "leave out join: 'no' (HEADRACE_JOIN), or work on it in a member that joins",
      },
    )
  }
}

/** Types do not hold callers from JavaScript. */
export function refuseNoPool(pool: unknown, { of, call }: { of: string; call: string }): void {
  if (pool instanceof Pool) return
  const name = typeof pool === 'string' ? describe(pool) : 'name'
  throw new HeadraceError('invalid_options', `the pool of ${of} is ${describe(pool)}`, {
    remedy: `give the pool itself: ${call.replace('POOL', () => `race.pool(${name})`)}`,
  })
}

export function refuseNoHandler(handler: unknown): void {
  if (typeof handler === 'function') return
  throw new HeadraceError('invalid_options', `the handler of a worker is ${describe(handler)}`, {
    remedy: 'give a function: race.work(pool, async (run) => { … }, options)',
  })
}

/** What is due in a pool is either worked on, by one worker, or moves to a topic. */
export function refuseTaken(pool: string, by: 'a worker' | 'ticks'): HeadraceError {
  return new HeadraceError('invalid_options', `the pool ${pool} has ${by} in this process already`, {
    remedy: by === 'ticks' ? 'use another pool for this work' : 'use one worker with more concurrency',
  })
}
