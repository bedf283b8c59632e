// Settles runs in batches, each under the epoch that it was taken with, until the store has answered or the partition is
// another's. Rule [X15] of docs/spec/work.md.
import { Batcher } from '../batcher.ts'
import type { Clock } from '../clock.ts'
import { type Claim, type Held, poolResource } from '../fence.ts'
import { Pause } from '../pause.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Flight } from './run.ts'
import type { Outcome, Settlement } from './settle.ts'
import type { Entries, SettleAnswer } from './store.ts'

export interface SettlerParts {
  pool: string
  entries: Pick<Entries, 'settle'>
  ownership: Ownership
  clock: Clock
  telemetry: Telemetry
  /** The store has answered. */
  settled(flight: Flight, answer: SettleAnswer): void
  /** It will not be settled: its partition is another's, or the worker has stopped. */
  letGo(flight: Flight): void
}

interface Ended {
  flight: Flight
  outcome: Outcome
}

/** The most settlements of one call. */
const BATCH = 1000

export class Settler {
  readonly #parts: SettlerParts
  readonly #batcher: Batcher<Ended, void>
  readonly #over = new AbortController()
  readonly #waiters = new Set<() => void>()
  #pending = 0

  constructor(parts: SettlerParts) {
    this.#parts = parts
    this.#batcher = new Batcher({
      clock: parts.clock,
      size: BATCH,
      weigh: () => 1,
      run: (ended) => this.#settle(ended),
    })
  }

  add(flight: Flight, outcome: Outcome): void {
    this.#pending += 1
    void this.#batcher.add({ flight, outcome })
  }

  /** Resolves when all is answered; after `withinMs` nothing is tried again. */
  async end(withinMs: number): Promise<void> {
    const { clock } = this.#parts
    if (this.#pending > 0) {
      const answered = new AbortController()
      this.#waiters.add(() => answered.abort())
      await clock.sleep(withinMs, answered.signal)
    }
    this.#over.abort()
  }

  async #settle(all: Ended[]): Promise<void[]> {
    const { clock, telemetry, pool } = this.#parts
    const pause = new Pause(clock)
    for (let rest = this.#ours(all); rest.length > 0; rest = this.#ours(rest)) {
      try {
        await this.#settleOnce(rest)
        break
      } catch (error) {
        telemetry.emit('work.failed', { pool, error, retryInMs: pause.nextMs })
        await pause.wait(this.#over.signal)
      }
    }
    if (this.#pending === 0) for (const wake of this.#waiters) wake()
    return []
  }

  /** Those that may be settled; the others are let go. */
  #ours(all: Ended[]): Ended[] {
    const { ownership } = this.#parts
    const isOver = this.#over.signal.aborted
    return all.filter(({ flight }) => {
      if (!isOver && ownership.maySettle(flight.fence)) return true
      this.#pending -= 1
      this.#parts.letGo(flight)
      return false
    })
  }

  async #settleOnce(ended: Ended[]): Promise<void> {
    const { entries, pool, telemetry, clock } = this.#parts
    const claim = claimOf(ended.map(({ flight }) => flight))
    const began = clock.mono()
    const answers = await entries.settle(pool, ended.map(settlementOf), claim)
    const counts = { settled: 0, gone: 0, refused: 0 }
    const refused = new Set<number>()
    for (const [index, { flight }] of ended.entries()) {
      const answer = answers[index] as SettleAnswer
      counts[answer.result] += 1
      if (answer.result === 'refused') refused.add(flight.fence.partition)
      this.#pending -= 1
      this.#parts.settled(flight, answer)
    }
    telemetry.emit('work.settled', { pool, ...counts, tookMs: clock.mono() - began })
    if (refused.size === 0) return
    this.#parts.ownership.lose(claim, [...refused])
    telemetry.emit('fence.refused', { resource: poolResource(pool), partitions: refused.size })
  }
}

/** All of them are held now, so they are one owner's, and each partition has one epoch. */
export function claimOf(flights: readonly Pick<Flight, 'fence' | 'owner'>[]): Claim {
  const held = new Map<number, Held>()
  for (const { fence } of flights) held.set(fence.partition, fence)
  return { owner: flights[0]?.owner ?? '', held: [...held.values()] }
}

function settlementOf({ flight, outcome }: Ended): Settlement {
  const { key, slot, turn, seen } = flight.taken
  return { key, slot, turn, seen, outcome }
}
