// Reads what is due in pages where it may take too long at once: from far back, where an old snapshot may keep millions of
// entries that are gone. A read that does not come to its end in time answers what it has, and from when on it did not read;
// the next one goes on there. [Y16]
import type { Clock } from '../../clock.ts'
import type { Taken } from '../../pool/store.ts'
import type { Connections } from './connections.ts'
import { wasEnded } from './failure.ts'
import type { DueWatermarks } from './due-watermarks.ts'
import { PageWidth } from './page-width.ts'
import { READ } from './pools.ts'

export interface PageReaderParts {
  connections: Connections
  clock: Clock
  watermarks: DueWatermarks
}

/** What is to be read. */
export interface Reading {
  pool: number
  lane: number
  partitions: readonly number[]
  from: number
  limit: number
}

/** A part of it: from these due times on, one for each partition, and before the end; null: all that is due. */
export interface Page {
  froms: readonly number[]
  end: number | null
}

/** The two ways to read. */
export interface Ways {
  /** All of it, in one statement. */
  whole(): Promise<Taken>
  /** A page, in a transaction whose statements the server ends after so long. */
  page(page: Page, boundMs: number): Promise<Taken>
}

/** A read that begins later than this, or where one began that was quick, is made at once. */
const NEAR_MS = 30_000
const QUICK_MS = 250
/** No further page is begun after so long, whatever was read; and how many are read at most in one call. */
const READ_FOR_MS = 1000
const MOST_PAGES = 1000

/** What is known of a lane of a pool. */
interface Place {
  pages: PageWidth
  /** The server's time at the last read; null: none was answered. */
  now: number | null
  /** From where the last read from far back began that was quick; Infinity: it was not. */
  quickFrom: number
}

export class PageReader {
  readonly #parts: PageReaderParts
  /** By pool and lane. */
  readonly #places = new Map<string, Place>()

  constructor(parts: PageReaderParts) {
    this.#parts = parts
  }

  async read(reading: Reading, ways: Ways): Promise<Taken> {
    const place = this.#placeOf(reading)
    const { from } = reading
    const isNear = place.now !== null && from >= place.now - NEAR_MS
    if (!isNear && from < place.quickFrom && reading.partitions.length > 0)
      return this.#pages(place, reading, ways)
    const beganAt = this.#parts.clock.mono()
    try {
      const taken = await ways.whole()
      if (!isNear) place.quickFrom = this.#parts.clock.mono() - beganAt < QUICK_MS ? from : Infinity
      place.now = taken.now
      return taken
    } catch (error) {
      if (!isNear) place.quickFrom = Infinity
      if (!wasEnded(error)) throw error
      return this.#pages(place, reading, ways)
    }
  }

  async #pages(place: Place, reading: Reading, ways: Ways): Promise<Taken> {
    const { clock, watermarks } = this.#parts
    const beganAt = clock.mono()
    let now = place.now ?? (await this.#now(reading))
    let { from } = reading
    for (let read = 0; read < MOST_PAGES && clock.mono() < beganAt + READ_FOR_MS; read += 1) {
      const froms = this.#fromsOf(reading, from, now)
      from = Math.min(...froms)
      const end = place.pages.end(from, now)
      const pageAt = clock.mono()
      const { era } = watermarks
      let taken: Taken
      try {
        taken = await ways.page({ froms, end }, place.pages.boundMs)
      } catch (error) {
        if (!wasEnded(error)) throw error
        place.now = now = await this.#now(reading)
        place.pages.tooLong(from, end, now)
        continue
      }
      const tookMs = clock.mono() - pageAt
      place.pages.read(from, end, tookMs)
      place.now = now = taken.now
      const isCut = taken.cutAt !== undefined || taken.runs.length >= reading.limit
      if (end === null || isCut) {
        place.quickFrom = tookMs < QUICK_MS ? from : Infinity
        return taken
      }
      if (era === watermarks.era) this.#note(reading, { froms, end, taken })
      from = end
      if (taken.runs.length > 0) return partOf(taken, end)
    }
    return partOf({ now, runs: [], nextDueAt: null }, from)
  }

  /** From where each partition is read: not again what was just read and is empty. */
  #fromsOf({ pool, lane, partitions }: Reading, from: number, now: number): number[] {
    return partitions.map((partition) =>
      Math.max(from, this.#parts.watermarks.clearUpTo({ pool, lane, partition }, now)),
    )
  }

  #note(
    { pool, lane, partitions }: Reading,
    { froms, end, taken: { now, runs } }: { froms: readonly number[]; end: number; taken: Taken },
  ): void {
    const upTo = Math.min(end, ...runs.map(({ dueAt }) => dueAt))
    partitions.forEach((partition, nth) => {
      const from = froms[nth] as number
      this.#parts.watermarks.readPage({ pool, lane, partition }, { from, upTo, now })
    })
  }

  async #now({ pool }: Reading): Promise<number> {
    const [row] = await this.#parts.connections.query('read_clock', [pool], READ)
    return row?.['now'] as number
  }

  #placeOf({ pool, lane }: Reading): Place {
    const name = `${pool} ${lane}`
    let place = this.#places.get(name)
    if (place === undefined) {
      place = { pages: new PageWidth(), now: null, quickFrom: Infinity }
      this.#places.set(name, place)
    }
    return place
  }
}

/** Nothing is known of what is due from there on. [D6] */
function partOf(taken: Taken, cutAt: number): Taken {
  return { ...taken, nextDueAt: null, cutAt, isPart: true }
}
