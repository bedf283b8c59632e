// From where moves and pulses read the due times of a pool, so that neither walks over what moved long ago: while an old
// snapshot is open anywhere, the server can remove none of it, and a million rows cost a fifth of a second. A put is never
// due in the past, and is undone when it commits too late; so nothing appears far behind a time up to which all was read.
// What reads all of it is sweeps.ts. [Y10]

/** How far a pulse looks back behind the time of the last one that was answered: twice the bound of a put. */
export const LOOK_BACK_MS = 10_000

/** How far a move looks back behind the last one. The next pulse finds what commits later without a hint. */
const MARGIN_MS = 250

/** After so long in which no pulse has read it all, what lies behind is read by a sweep, and not in the beat. */
const STALE_MS = 30_000

/** For how long it is believed that nothing is due before some time: long enough to go on where a read was ended. */
const CLEAR_FOR_MS = 60_000

/** What was found: nothing is due before `nextDueAt`, by the server's time. */
export interface Found {
  now: number
  nextDueAt: number | null
}

interface Watermark {
  /** The partitions of which nothing is due before `movedUpTo`, nor before `seenFrom`. */
  moved: Set<number>
  movedUpTo: number
  /** Something is due from here on, by a pulse or a hint. */
  seenFrom: number
  /** What the last pulse that was answered asked for, its time, and up to where it found nothing. */
  swept: { partitions: Set<number>; now: number; upTo: number } | null
  /** The server's time at the last pulse that did not read it all. */
  partAt: number
}

/** A part of a pool that is read by itself. */
export interface Range {
  pool: number
  lane: number
  partition: number
}

/** From where a call reads; null: nothing is known, so it reads what is due since ten seconds. */
export interface From {
  from: number | null
  /** The server's time that was known when it was sent. */
  known: number
}

export class DueWatermarks {
  /** By the number of the pool. */
  readonly #watermarks = new Map<number, Watermark>()
  /** By the number of the pool, then by lane and partition: nothing was due before, at a time of the server. */
  readonly #clear = new Map<number, Map<string, { upTo: number; at: number }>>()
  #era = 0

  /** Changes with the life of the server: what was read in another one may be of a store that went back since. */
  get era(): number {
    return this.#era
  }

  beforeMove(pool: number, partitions: readonly number[]): number | null {
    const watermark = this.#of(pool)
    if (partitions.length === 0 || !partitions.every((each) => watermark.moved.has(each))) return null
    const from = Math.min(watermark.movedUpTo, watermark.seenFrom)
    watermark.seenFrom = Infinity
    return from
  }

  /** It read the partitions that it held from there on. */
  afterMove(pool: number, from: number | null, held: readonly number[], { now, nextDueAt }: Found): void {
    const watermark = this.#of(pool)
    watermark.moved = new Set(held.filter((each) => watermark.moved.has(each)))
    if (from !== null) watermark.movedUpTo = Math.min(now, nextDueAt ?? now) - MARGIN_MS
  }

  /** Something is due from there on: a hint came, or it was not moved. */
  lower(pool: number, from: number | null): void {
    const watermark = this.#of(pool)
    if (from !== null) watermark.seenFrom = Math.min(watermark.seenFrom, from)
  }

  beforePulse(pool: number, partitions: readonly number[]): From {
    const { swept, partAt } = this.#of(pool)
    const known = swept?.now ?? -Infinity
    const isStale = partAt > known + STALE_MS
    if (swept === null || isStale || !partitions.every((each) => swept.partitions.has(each)))
      return { from: null, known }
    return { from: swept.upTo - LOOK_BACK_MS, known }
  }

  afterPulse(pool: number, { from, known }: From, partitions: readonly number[], found: Found): void {
    const watermark = this.#of(pool)
    const { now, nextDueAt } = found
    this.lower(pool, nextDueAt)
    // The server's clock was set back: what is put now may be due before all that was read.
    if (now < known) return this.forget(pool)
    // Of two that were under way at once the later one counts.
    if (from === null || now < (watermark.swept?.now ?? -Infinity)) return
    watermark.swept = { partitions: new Set(partitions), now, upTo: Math.min(now, nextDueAt ?? now) }
  }

  /** A pulse read what is due from some time on, and nothing before. */
  afterPart(pool: number, { known }: From, now: number): void {
    const watermark = this.#of(pool)
    if (now < Math.max(known, watermark.partAt)) this.forget(pool)
    else watermark.partAt = now
  }

  /** Everything of these partitions was read. */
  afterSweep(pool: number, partitions: readonly number[], { now, nextDueAt }: Found): void {
    const watermark = this.#of(pool)
    const upTo = Math.min(now, nextDueAt ?? now)
    watermark.moved = new Set(partitions)
    watermark.movedUpTo = upTo - LOOK_BACK_MS
    watermark.swept = { partitions: new Set(partitions), now, upTo }
  }

  /** Up to when nothing is due in a range, as of this time, by pages that were read a short time ago; else -Infinity. */
  clearUpTo({ pool, lane, partition }: Range, now: number): number {
    const known = this.#clear.get(pool)?.get(`${lane} ${partition}`)
    const isFresh = known !== undefined && now >= known.at && now <= known.at + CLEAR_FOR_MS
    return isFresh ? known.upTo : -Infinity
  }

  /** A page of a range was read: nothing is due from there up to then, by this time of the server. */
  readPage(range: Range, { from, upTo, now }: { from: number; upTo: number; now: number }): void {
    const before = this.clearUpTo(range, now)
    if (from > 0 && from > before) return
    const { pool, lane, partition } = range
    let ranges = this.#clear.get(pool)
    if (ranges === undefined) this.#clear.set(pool, (ranges = new Map()))
    ranges.set(`${lane} ${partition}`, {
      upTo: Math.max(before, Math.min(upTo, now - LOOK_BACK_MS)),
      at: now,
    })
  }

  /** Another life of the server has begun: what is known, or is being read, counts no more. */
  renew(): void {
    this.#era += 1
    this.forget()
  }

  /** What is known of a pool, or of all, counts no more. */
  forget(pool?: number): void {
    if (pool === undefined) {
      this.#watermarks.clear()
      this.#clear.clear()
      return
    }
    this.#watermarks.delete(pool)
    this.#clear.delete(pool)
  }

  #of(pool: number): Watermark {
    let watermark = this.#watermarks.get(pool)
    if (watermark === undefined) {
      watermark = {
        moved: new Set(),
        movedUpTo: -Infinity,
        seenFrom: Infinity,
        swept: null,
        partAt: -Infinity,
      }
      this.#watermarks.set(pool, watermark)
    }
    return watermark
  }
}
