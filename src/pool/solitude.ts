// One run at a time may have a member to itself: it waits until the others have ended, and until it has ended itself
// nothing else starts. Shared by all workers of a member. Rule [X45] of docs/spec/work.md.
import type { Clock } from '../clock.ts'
import type { AloneRun } from './work-meter.ts'

/** A worker, as the others see it. */
export interface Neighbour {
  /** How many runs it has started, or is about to start, that have not ended. */
  busy(): number
  /** It may start runs again. */
  wake(): void
}

interface Held {
  by: Neighbour
  holder: AloneRun
  begin(): void
  /** Fires when it has begun, or has ended before it did. */
  settled: AbortController
}

export class Solitude {
  readonly #clock: Clock
  readonly #withinMs: number
  readonly #neighbours = new Set<Neighbour>()
  #held: Held | null = null

  /** After `withinMs` it begins, whatever has not ended: a run may wait for one that cannot start meanwhile. */
  constructor(clock: Clock, withinMs: number) {
    this.#clock = clock
    this.#withinMs = withinMs
  }

  /** Whether a run has it, or waits for it: nothing else may start. */
  get isTaken(): boolean {
    return this.#held !== null
  }

  /** The run that has it, or waits for it; null: none does. */
  get holder(): AloneRun | null {
    return this.#held?.holder ?? null
  }

  join(neighbour: Neighbour): void {
    this.#neighbours.add(neighbour)
  }

  part(neighbour: Neighbour): void {
    this.#neighbours.delete(neighbour)
    this.leave(neighbour)
  }

  /** Takes it for a run, and begins when nothing else is under way. Asked only while it is not taken. */
  take(by: Neighbour, holder: AloneRun, begin: () => void): void {
    const settled = new AbortController()
    const held = { by, holder, begin, settled }
    this.#held = held
    void this.#clock.sleep(this.#withinMs, settled.signal).then(() => this.#begin(held))
    this.look()
  }

  /** A run has ended: perhaps it was the last. */
  look(): void {
    if (this.#held === null || this.#held.settled.signal.aborted) return
    for (const neighbour of this.#neighbours) if (neighbour.busy() > 0) return
    this.#begin(this.#held)
  }

  /** Gives it back, if it is this worker's; the others come first. */
  leave(by: Neighbour): void {
    if (this.#held?.by !== by) return
    this.#held.settled.abort()
    this.#held = null
    if (this.#neighbours.delete(by)) this.#neighbours.add(by)
    for (const neighbour of this.#neighbours) neighbour.wake()
  }

  #begin(held: Held): void {
    if (held.settled.signal.aborted) return
    held.settled.abort()
    held.begin()
  }
}
