// Whether a pool of ticks is paused: reads what steers it before the first question, and again when that was, or may have
// been, written. Writes there once that the pool is of ticks. Rule [T6] of docs/spec/pool.md.
import type { StoreTime } from '../store-time.ts'
import type { Telemetry } from '../telemetry.ts'
import { type Paused, pauseAt } from './control.ts'
import type { Controlled, ControlStore } from './store.ts'

export interface PauseWatchParts {
  pool: string
  control: ControlStore
  time: StoreTime
  telemetry: Telemetry
}

/** It may be written while it is read; so often in a row is no steering any more. */
const MOST_READS = 5

export class PauseWatch {
  readonly #parts: PauseWatchParts
  #paused: Paused | null = null
  #version = 0
  #isKnown = false
  /** It was not read yet, or may be another by now. */
  #isStale = true

  constructor(parts: PauseWatchParts) {
    this.#parts = parts
  }

  /** Whether it was read once. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** The pause that holds, as far as it was read; null: none does. */
  get paused(): Paused | null {
    return (this.#paused?.until ?? Infinity) > this.#parts.time.now() ? this.#paused : null
  }

  /** A pulse told this version; undefined: it did not ask. Answers whether to look again. */
  notice(version: number | undefined): boolean {
    const isOther = version !== undefined && version !== this.#version
    if (isOther || version === undefined) this.#isStale = true
    return isOther
  }

  /** Somebody wrote what steers the pool. */
  hear(): void {
    this.#isStale = true
  }

  /** When the pause that holds is over, by the store's clock; Infinity: with a resume; null: none holds. */
  async endsAt(): Promise<number | null> {
    const { time } = this.#parts
    if ((this.#paused?.until ?? Infinity) <= time.now()) this.#isStale = true
    for (let tries = 0; this.#isStale && tries < MOST_READS; tries += 1) await this.#read()
    return this.#paused === null ? null : (this.#paused.until ?? Infinity)
  }

  /** The store's own clock says whether a pause is over: what is known of it here may be early by a moment. */
  async #read(): Promise<void> {
    const { control, pool } = this.#parts
    // Before the read: what is written while it is under way makes it stale again.
    this.#isStale = false
    try {
      const found = await control.read(pool)
      this.#version = found.version
      this.#paused = pauseAt(found.control, found.now)
      this.#isKnown = true
      if (found.control.isTicks !== true) await this.#mark(found)
    } catch (error) {
      this.#isStale = true
      throw error
    }
  }

  /** For those who steer it elsewhere. What another wrote meanwhile is read, and marked then; a failure keeps no tick. */
  async #mark({ version, control }: Controlled): Promise<void> {
    try {
      const written = await this.#parts.control.write(this.#parts.pool, version, {
        ...control,
        isTicks: true,
      })
      if (written !== null) {
        this.#version = written
        return
      }
      this.#isStale = true
      this.#parts.telemetry.emit('control.lost', { pool: this.#parts.pool, by: 'ticks' })
    } catch {
      // The next read tries again.
    }
  }
}
