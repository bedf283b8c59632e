// What the runs of a worker tell of themselves while they are under way: written to the store once a second, all in one
// step. Rule [Z6] of docs/spec/work.md.
import { checkPayload } from '../check.ts'
import type { Clock, Timer } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import type { Flight } from './run.ts'
import type { ProgressStore } from './store.ts'

export interface ProgressParts {
  pool: string
  store: ProgressStore
  clock: Clock
}

const EVERY_MS = 1000
/** The most that are written at once; what is left waits for the next time. */
const MOST_AT_ONCE = 1000
/** It is read by people, and written every second. */
const LARGEST_BYTES = 16 * 1024

export class Progress {
  readonly #parts: ProgressParts
  /** The latest value of each run that is not written yet, as JSON text. */
  readonly #waiting = new Map<Flight, string>()
  #timer: Timer | null = null
  #isWriting = false

  constructor(parts: ProgressParts) {
    this.#parts = parts
  }

  /** Takes a value of a run that is under way; throws `invalid_input` where JSON cannot hold it, or it is too large. */
  tell(flight: Flight, value: unknown): void {
    const text = checkPayload(value, 'progress') ?? 'null'
    const bytes = Buffer.byteLength(text)
    if (bytes > LARGEST_BYTES) {
      throw new HeadraceError('invalid_input', `progress has ${bytes} bytes, the limit is ${LARGEST_BYTES}`, {
        remedy: 'tell less: it is for people to look at',
      })
    }
    this.#waiting.set(flight, text)
    this.#arm()
  }

  /** A run that has ended tells nothing more. */
  ended(flight: Flight): void {
    this.#waiting.delete(flight)
  }

  #arm(): void {
    if (this.#timer !== null) return
    this.#timer = this.#parts.clock.timer(EVERY_MS, () => this.#ring(), { background: true })
  }

  #ring(): void {
    this.#timer = null
    // A store that takes longer than a second is not asked a second time meanwhile.
    if (!this.#isWriting) void this.#write()
    if (this.#waiting.size > 0) this.#arm()
  }

  async #write(): Promise<void> {
    const flights = [...this.#waiting].slice(0, MOST_AT_ONCE)
    const [first] = flights
    if (first === undefined) return
    // After it has joined anew a member has another id: what was taken under the former one is lost anyway.
    const { owner } = first[0]
    for (const [flight] of flights) this.#waiting.delete(flight)
    const told = flights.map(
      ([
        {
          taken: { key, slot, turn },
        },
        progress,
      ]) => ({ key, slot, turn, progress }),
    )
    // Of a partition that came back runs may have outlived an earlier epoch: the latest is the fence's.
    const fences = flights.map(([{ fence }]) => fence).toSorted((a, b) => a.epoch - b.epoch)
    const held = new Map(fences.map((fence) => [fence.partition, fence]))
    this.#isWriting = true
    try {
      await this.#parts.store.tell(this.#parts.pool, told, { owner, held: [...held.values()] })
    } catch {
      // Not repeated: the next value comes soon.
    } finally {
      this.#isWriting = false
    }
  }
}
