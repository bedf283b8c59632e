// Folds what arrived in users' own transactions: puts into the pools whose partitions are this member's, events into
// their topics. The pulse tells where something waits.
import type { Clock } from '../clock.ts'
import { poolResource } from '../fence.ts'
import type { Ownership } from '../roster/ownership.ts'
import { Service } from '../service.ts'
import type { Arrivals, AskedPool, Pulse } from '../store.ts'
import type { Telemetry } from '../telemetry.ts'
import type { Pool } from './pool.ts'

export interface FoldingParts {
  arrivals: Arrivals
  clock: Clock
  telemetry: Telemetry
}

/** The most arrivals that one statement folds, of a partition or of a topic. */
const LIMIT = 500

export class Folding {
  readonly service: Service
  readonly #parts: FoldingParts
  readonly #pools = new Map<string, { pool: Pool; ownership: Ownership }>()
  #folding: Promise<void> | null = null
  #isStopped = false

  constructor(parts: FoldingParts) {
    this.#parts = parts
    this.service = new Service({
      name: 'folding',
      start: () => Promise.resolve(),
      stop: async () => {
        this.#isStopped = true
        await this.#folding
      },
    })
  }

  /** Folds into this pool from now on. */
  add(pool: Pool, ownership: Ownership): void {
    this.#pools.set(poolResource(pool.name), { pool, ownership })
  }

  /** What it asks of the next pulse, beside what is asked anyway. */
  asked(anyway: readonly AskedPool[]): AskedPool[] {
    const known = new Set(anyway.map(({ pool }) => pool))
    const others = [...this.#pools.values()].filter(({ pool }) => pool.isOpen && !known.has(pool.name))
    return others.flatMap(({ pool, ownership }) => {
      const partitions = ownership.claim().held.map(({ partition }) => partition)
      return partitions.length > 0 ? [{ pool: pool.name, partitions }] : []
    })
  }

  /** Folds what the pulse saw; one pass at a time, since the next pulse tells again. */
  notice({ arrived }: Pulse): void {
    if (arrived.length === 0 || this.#folding !== null || this.#isStopped) return
    this.#folding = this.#foldAll(arrived)
      .catch((error: unknown) => this.#parts.telemetry.emit('store.failed', { error }))
      .finally(() => (this.#folding = null))
  }

  async #foldAll(arrived: readonly string[]): Promise<void> {
    for (const resource of arrived) {
      const known = this.#pools.get(resource)
      if (known !== undefined) await this.#foldPuts(known)
      else if (resource.startsWith('topic/')) await this.#foldEvents(resource.slice('topic/'.length))
    }
  }

  async #foldPuts({ pool, ownership }: { pool: Pool; ownership: Ownership }): Promise<void> {
    const { arrivals, telemetry } = this.#parts
    for (let more = true; more && !this.#isStopped;) {
      more = await ownership.use(async (claim) => {
        if (claim.held.length === 0) return false
        const folded = await arrivals.foldPuts({ pool: pool.name, limit: LIMIT, claim })
        ownership.lose(claim, folded.refused)
        const partitions = folded.refused.length
        if (partitions > 0) telemetry.emit('fence.refused', { resource: poolResource(pool.name), partitions })
        telemetry.emit('store.folded', { pool: pool.name, entries: folded.count })
        return folded.more
      })
    }
  }

  async #foldEvents(topic: string): Promise<void> {
    const { arrivals, telemetry } = this.#parts
    for (let folded = LIMIT; folded === LIMIT && !this.#isStopped;) {
      folded = await arrivals.foldEvents(topic, LIMIT)
      telemetry.emit('log.appended', { topic, events: folded })
    }
  }
}

/** What the next pulse is asked by those that work on what is due, and for the rest by who folds. */
export function askedWith(
  folding: Folding | null,
  others: readonly { readonly asked: readonly AskedPool[] }[],
): AskedPool[] {
  const asked = others.flatMap((each) => each.asked)
  return [...asked, ...(folding?.asked(asked) ?? [])]
}
