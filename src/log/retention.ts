// Removes events that are older than their topic's retention, records of deaths that their pools keep no longer, and
// what runs told of themselves long ago, a bounded number at a time.
import type { Clock } from '../clock.ts'
import { Service } from '../service.ts'
import type { Telemetry } from '../telemetry.ts'
import type { LogStore } from './store.ts'

export interface RetentionParts {
  log: Pick<LogStore, 'topics' | 'trim'>
  dead: { purge(limit: number): Promise<{ pool: string; deaths: number }[]> }
  progress: { sweep(limit: number): Promise<number> }
  clock: Clock
  telemetry: Telemetry
}

const EVERY_MS = 60_000
/** About 10 ms of work, so that nobody waits long behind it. */
const TRIM_LIMIT = 2000
/** Less than of events: each may take an entry along. */
const PURGE_LIMIT = 500
/** Between two trims of a topic: moves and puts have five times as long as trims, and 40,000 events a second still go. */
const PAUSE_MS = 50

export class Retention {
  readonly service: Service
  readonly #parts: RetentionParts
  readonly #stop = new AbortController()
  #loop: Promise<void> = Promise.resolve()

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.service = new Service({
      name: 'retention',
      start: async () => {
        this.#loop = this.#run(this.#stop.signal)
      },
      stop: async () => {
        this.#stop.abort()
        await this.#loop
      },
    })
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(EVERY_MS, signal)
      // A failed trim is tried again in a minute: what should have gone a minute ago does no harm.
      if (!signal.aborted) await this.#trim(signal).catch(() => undefined)
      if (!signal.aborted) await this.#purge(signal).catch(() => undefined)
      if (!signal.aborted) await this.#sweep(signal).catch(() => undefined)
    }
  }

  async #purge(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#purgeOnce()) === PURGE_LIMIT) {
      await this.#parts.clock.sleep(PAUSE_MS, signal)
    }
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#parts.progress.sweep(PURGE_LIMIT)) === PURGE_LIMIT) {
      await this.#parts.clock.sleep(PAUSE_MS, signal)
    }
  }

  async #purgeOnce(): Promise<number> {
    const purged = await this.#parts.dead.purge(PURGE_LIMIT)
    for (const { pool, deaths } of purged) this.#parts.telemetry.emit('dead.purged', { pool, deaths })
    return purged.reduce((sum, { deaths }) => sum + deaths, 0)
  }

  async #trim(signal: AbortSignal): Promise<void> {
    for (const { name, bounds } of await this.#parts.log.topics()) {
      if (bounds.every(({ oldest, head }) => oldest === head)) continue
      while (!signal.aborted && (await this.#trimOnce(name)) === TRIM_LIMIT) {
        await this.#parts.clock.sleep(PAUSE_MS, signal)
      }
    }
  }

  async #trimOnce(topic: string): Promise<number> {
    const removed = await this.#parts.log.trim(topic, TRIM_LIMIT)
    if (removed > 0) this.#parts.telemetry.emit('log.trimmed', { topic, events: removed })
    return removed
  }
}
