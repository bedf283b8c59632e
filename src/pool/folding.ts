// Folds what arrived in users' own transactions: puts into the pools whose partitions are this member's, events into
// their topics. The pulse tells where something waits. Before a run falls due that a later put would postpone, it looks for
// that put itself, since a pulse may come too late for it.
import { Alarm } from '../alarm.ts'
import type { Clock } from '../clock.ts'
import { poolResource } from '../fence.ts'
import type { Ownership } from '../roster/ownership.ts'
import { Service } from '../service.ts'
import { StoreTime } from '../store-time.ts'
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

/** So long before a run is due it looks for what postpones it: a fold takes a few milliseconds. */
const AHEAD_MS = 50

/** The shortest time between two looks, and what their times are rounded to: bounds how many are remembered. */
const GATHER_MS = 20

/** Looks further ahead are left to the pulse: half a second of these is too little to remember each. */
const FURTHEST_MS = 60_000

export class Folding {
  readonly service: Service
  readonly #parts: FoldingParts
  readonly #alarm: Alarm
  readonly #time: StoreTime
  readonly #stop = new AbortController()
  readonly #pools = new Map<string, { pool: Pool; ownership: Ownership }>()
  /** When to look, by this process's clock, and where. */
  readonly #looks = new Map<number, Set<string>>()
  #loop: Promise<void> = Promise.resolve()

  constructor(parts: FoldingParts) {
    this.#parts = parts
    this.#alarm = new Alarm(parts.clock)
    this.#time = new StoreTime(parts.clock)
    this.service = new Service({
      name: 'folding',
      start: async () => {
        this.#loop = this.#run(this.#stop.signal)
      },
      stop: async () => {
        this.#stop.abort()
        await this.#loop
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

  /** Folds what a pulse saw that was sent then. */
  notice({ now, arrived }: Pulse, sentAt: number): void {
    this.#time.hear(now, sentAt)
    for (const resource of arrived) this.#look(resource, this.#parts.clock.now())
  }

  #look(resource: string, at: number): void {
    const rounded = Math.floor(at / GATHER_MS) * GATHER_MS
    const resources = this.#looks.get(rounded) ?? new Set()
    this.#looks.set(rounded, resources.add(resource))
    this.#alarm.wakeBy(rounded)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { telemetry } = this.#parts
    while (!signal.aborted) {
      this.#alarm.reset()
      await this.#foldAll(this.#due()).catch((error: unknown) => telemetry.emit('store.failed', { error }))
      const next = this.#looks.size === 0 ? null : Math.min(...this.#looks.keys())
      await this.#alarm.sleepUntil(next, GATHER_MS, signal)
    }
  }

  /** Where to look now; forgets it. */
  #due(): Set<string> {
    const now = this.#parts.clock.now()
    const due = [...this.#looks].filter(([at]) => at <= now)
    for (const [at] of due) this.#looks.delete(at)
    return new Set(due.flatMap(([, resources]) => [...resources]))
  }

  async #foldAll(arrived: ReadonlySet<string>): Promise<void> {
    for (const resource of arrived) {
      const known = this.#pools.get(resource)
      if (known !== undefined) await this.#foldPuts(known)
      else if (resource.startsWith('topic/')) await this.#foldEvents(resource.slice('topic/'.length))
    }
  }

  async #foldPuts({ pool, ownership }: { pool: Pool; ownership: Ownership }): Promise<void> {
    const { arrivals, telemetry } = this.#parts
    for (let more = true; more && !this.#stop.signal.aborted;) {
      more = await ownership.use(async (claim) => {
        if (claim.held.length === 0) return false
        const folded = await arrivals.foldPuts({ pool: pool.name, limit: LIMIT, claim })
        ownership.lose(claim, folded.refused)
        const partitions = folded.refused.length
        if (partitions > 0) telemetry.emit('fence.refused', { resource: poolResource(pool.name), partitions })
        if (folded.count > 0) telemetry.emit('store.folded', { pool: pool.name, entries: folded.count })
        this.#lookBefore(pool, folded.postponable)
        return folded.more
      })
    }
  }

  /** A put that comes before these are due postpones them, if it is folded before. [U7] */
  #lookBefore({ name }: Pool, dueAts: readonly number[]): void {
    const now = this.#parts.clock.now()
    for (const dueAt of dueAts) {
      const at = this.#time.toOwn(dueAt) - AHEAD_MS
      if (at > now && at < now + FURTHEST_MS) this.#look(poolResource(name), at)
    }
  }

  async #foldEvents(topic: string): Promise<void> {
    const { arrivals, telemetry } = this.#parts
    for (let folded = LIMIT; folded === LIMIT && !this.#stop.signal.aborted;) {
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
