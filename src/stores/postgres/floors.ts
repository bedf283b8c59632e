// From where moves and pulses read the due times of a pool, so that neither walks over what moved long ago: while an old
// snapshot is open anywhere, the server can remove none of it, and each row costs a microsecond. A put is never due in
// the past, and is undone when it commits too late; so nothing appears far behind a time up to which all was read. [Y10]
import type { Clock } from '../../clock.ts'

/** Before every due time. */
const BEGINNING = Number.MIN_SAFE_INTEGER

/** How far a pulse looks back behind the time of the last one that was answered: twice the bound of a put. */
const LOOK_BACK_MS = 10_000

/** How far a move looks back behind the last one. What commits later is found by the next pulse. */
const MARGIN_MS = 250

/** So often a pulse reads everything, should anything be wrong with all this. */
const EVERYTHING_EVERY_MS = 600_000

export interface Found {
  now: number
  nextDueAt: number | null
}

class Floor {
  /** The partitions that moves have read from the beginning, and since. */
  moved = new Set<number>()
  movedUpTo = BEGINNING
  /** A pulse has seen something due from here on. */
  seenFrom = Infinity
  /** The last pulse that was answered, and up to where it found nothing. */
  swept: { partitions: Set<number>; now: number; upTo: number } | null = null
  everythingAt = -Infinity
}

export class Floors {
  readonly #clock: Clock
  /** By the number of the pool. */
  readonly #floors = new Map<number, Floor>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** From where a move of these partitions reads. */
  beforeMove(pool: number, partitions: readonly number[]): number {
    const floor = this.#of(pool)
    const from = partitions.every((each) => floor.moved.has(each))
      ? Math.min(floor.movedUpTo, floor.seenFrom)
      : BEGINNING
    floor.seenFrom = Infinity
    return from
  }

  /** It read these partitions from there; what it left, or did not read, is due from `nextDueAt` on. */
  afterMove(pool: number, from: number, held: readonly number[], { now, nextDueAt }: Found): void {
    const floor = this.#of(pool)
    floor.moved = new Set(from === BEGINNING ? held : held.filter((each) => floor.moved.has(each)))
    floor.movedUpTo = Math.min(now, nextDueAt ?? now) - MARGIN_MS
  }

  /** Whether it has moved anything is unknown. */
  afterFailedMove(pool: number, from: number): void {
    const floor = this.#of(pool)
    floor.seenFrom = Math.min(floor.seenFrom, from)
  }

  /** From where a pulse reads these partitions. */
  beforePulse(pool: number, partitions: readonly number[]): number {
    const { swept, everythingAt } = this.#of(pool)
    if (swept === null || !partitions.every((each) => swept.partitions.has(each))) return BEGINNING
    if (this.#clock.mono() - everythingAt >= EVERYTHING_EVERY_MS) return BEGINNING
    return swept.upTo - LOOK_BACK_MS
  }

  afterPulse(pool: number, from: number, partitions: readonly number[], { now, nextDueAt }: Found): void {
    const floor = this.#of(pool)
    // The server's clock was set back: what is put now may be due before all that was read.
    const isBack = floor.swept !== null && now < floor.swept.now
    if (isBack) floor.moved.clear()
    const upTo = Math.min(now, nextDueAt ?? now)
    floor.swept = isBack ? null : { partitions: new Set(partitions), now, upTo }
    if (from === BEGINNING) floor.everythingAt = this.#clock.mono()
    floor.seenFrom = Math.min(floor.seenFrom, nextDueAt ?? Infinity)
  }

  #of(pool: number): Floor {
    let floor = this.#floors.get(pool)
    if (floor === undefined) this.#floors.set(pool, (floor = new Floor()))
    return floor
  }
}
