// From where moves and pulses read the due times of a pool, so that neither walks over what moved long ago: while an old
// snapshot is open anywhere, the server can remove none of it, and a million rows cost a fifth of a second. A put is never
// due in the past, and is undone when it commits too late; so nothing appears far behind a time up to which all was read.
// What reads all of it is sweeps.ts. [Y10]

/** How far a pulse looks back behind the time of the last one that was answered: twice the bound of a put. */
const LOOK_BACK_MS = 10_000

/** How far a move looks back behind the last one. What commits later, and no hint tells of, is found by the next pulse. */
const MARGIN_MS = 250

/** After so long in which no pulse has read it all, what lies behind is read by a sweep, and not in the beat. */
const STALE_MS = 30_000

/** What was found: nothing is due before `nextDueAt`, by the server's time. */
export interface Found {
  now: number
  nextDueAt: number | null
}

interface Floor {
  /** The partitions of which nothing is due before `movedUpTo`, nor before `seenFrom`. */
  moved: Set<number>
  movedUpTo: number
  /** Something is due from here on, as a pulse saw or a hint told. */
  seenFrom: number
  /** What the last pulse that was answered asked for, its time, and up to where it found nothing. */
  swept: { partitions: Set<number>; now: number; upTo: number } | null
  /** The server's time at the last pulse that did not read it all. */
  heardAt: number
}

/** From where a call reads; null: nothing is known, so it reads what is due since ten seconds. */
export interface From {
  from: number | null
  /** The server's time that was known when it was sent. */
  known: number
}

export class Floors {
  /** By the number of the pool. */
  readonly #floors = new Map<number, Floor>()

  beforeMove(pool: number, partitions: readonly number[]): number | null {
    const floor = this.#of(pool)
    if (partitions.length === 0 || !partitions.every((each) => floor.moved.has(each))) return null
    const from = Math.min(floor.movedUpTo, floor.seenFrom)
    floor.seenFrom = Infinity
    return from
  }

  /** It read the partitions that it held from there on. */
  afterMove(pool: number, from: number | null, held: readonly number[], { now, nextDueAt }: Found): void {
    const floor = this.#of(pool)
    floor.moved = new Set(held.filter((each) => floor.moved.has(each)))
    if (from !== null) floor.movedUpTo = Math.min(now, nextDueAt ?? now) - MARGIN_MS
  }

  /** Something is due from there on: it was told of, or was not moved. */
  lower(pool: number, from: number | null): void {
    const floor = this.#of(pool)
    if (from !== null) floor.seenFrom = Math.min(floor.seenFrom, from)
  }

  beforePulse(pool: number, partitions: readonly number[]): From {
    const { swept, heardAt } = this.#of(pool)
    const known = swept?.now ?? -Infinity
    const isStale = heardAt > known + STALE_MS
    if (swept === null || isStale || !partitions.every((each) => swept.partitions.has(each)))
      return { from: null, known }
    return { from: swept.upTo - LOOK_BACK_MS, known }
  }

  afterPulse(pool: number, { from, known }: From, partitions: readonly number[], found: Found): void {
    const floor = this.#of(pool)
    const { now, nextDueAt } = found
    this.lower(pool, nextDueAt)
    // The server's clock was set back: what is put now may be due before all that was read.
    if (now < known) return this.forget(pool)
    // Of two that were under way at once the later one counts.
    if (from === null || now < (floor.swept?.now ?? -Infinity)) return
    floor.swept = { partitions: new Set(partitions), now, upTo: Math.min(now, nextDueAt ?? now) }
  }

  /** A pulse read what is due from some time on, and nothing before. */
  afterPart(pool: number, { known }: From, now: number): void {
    const floor = this.#of(pool)
    if (now < Math.max(known, floor.heardAt)) this.forget(pool)
    else floor.heardAt = now
  }

  /** Everything of these partitions was read. */
  afterSweep(pool: number, partitions: readonly number[], { now, nextDueAt }: Found): void {
    const floor = this.#of(pool)
    const upTo = Math.min(now, nextDueAt ?? now)
    floor.moved = new Set(partitions)
    floor.movedUpTo = upTo - LOOK_BACK_MS
    floor.swept = { partitions: new Set(partitions), now, upTo }
  }

  /** What is known of a pool, or of all, counts no more. */
  forget(pool?: number): void {
    if (pool === undefined) this.#floors.clear()
    else this.#floors.delete(pool)
  }

  #of(pool: number): Floor {
    let floor = this.#floors.get(pool)
    if (floor === undefined) {
      floor = { moved: new Set(), movedUpTo: -Infinity, seenFrom: Infinity, swept: null, heardAt: -Infinity }
      this.#floors.set(pool, floor)
    }
    return floor
  }
}
