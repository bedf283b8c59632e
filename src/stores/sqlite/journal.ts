// The journal: young entries of a pool in mode `each`, appended to the file one commit at a time and indexed
// in memory. A random write per tick into the table's indexes costs 15 to 40 µs; an append costs 2. Entries
// here never change: they go (fired, cancelled) or are folded into the table. See docs/decisions/0007.
import { assert } from '../../errors.ts'
import type { Entry } from '../../pool/entry.ts'
import type { Database } from './database.ts'
import { DueQueues, type DueRange, type DueSpan } from './due-queues.ts'
import { type JournalSegment, decode, encode, hasBit, newSegment, revive, setBit } from './journal-segment.ts'
import type { Mirror } from './work.ts'

export interface JournalLimits {
  entries: number
  /** Characters of payloads. */
  payload: number
}

/** An entry takes about 400 bytes of memory, without its payload. */
const LIMITS: JournalLimits = { entries: 500_000, payload: 64 * 1024 * 1024 }

/** What is to be folded: put before `putBefore` and due after `dueAfter`, or after `dueAfterIfSparse` in a
 *  segment that is mostly gone. */
export interface Foldable {
  putBefore: number
  dueAfter: number
  dueAfterIfSparse: number
  limit: number
}

/** A segment of which no more is left is sparse: its row is read at every opening for the sake of few. */
const SPARSE = 1 / 8

interface SegmentRow {
  first_turn: number
  bits: Uint8Array | null
}

export class Journal implements Mirror {
  readonly #database: Database
  readonly #pool: number
  readonly #segments = new Map<number, JournalSegment>()
  /** By key; almost every key has one slot. */
  readonly #byKey = new Map<string, Entry | Map<number, Entry>>()
  readonly #segmentOf = new Map<Entry, JournalSegment>()
  readonly #queues = new DueQueues()
  readonly #dirty = new Set<JournalSegment>()
  #added: JournalSegment[] = []
  #removed: { entry: Entry; segment: JournalSegment }[] = []
  /** The newest segment that was read or committed here. */
  #lastTurn = 0
  /** The newest change that was followed or committed here, and that of this transaction. */
  #change = -1
  #newChange: number | null = null
  #size = 0
  #payloadLength = 0
  readonly #limits: JournalLimits

  constructor(database: Database, pool: number, limits = LIMITS) {
    this.#database = database
    this.#pool = pool
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** Whether new entries may begin here; else they go to the table at once, which is slower and bounds memory. */
  get hasRoom(): boolean {
    return this.#size < this.#limits.entries && this.#payloadLength < this.#limits.payload
  }

  get(key: string, slot: number): Entry | undefined {
    const found = this.#byKey.get(key)
    if (found instanceof Map) return found.get(slot)
    return found?.slot === slot ? found : undefined
  }

  ofKey(key: string): Entry[] {
    const found = this.#byKey.get(key)
    if (found === undefined) return []
    return found instanceof Map ? [...found.values()] : [found]
  }

  /** A page in the order of a listing. */
  list(range: DueRange): Entry[] {
    return this.#queues.page(range)
  }

  countDue(now: number): number {
    return this.#queues.countUntil(now)
  }

  nextDueAt(partitions: readonly number[]): number | null {
    return this.#queues.nextDueAt(partitions)
  }

  dueAfter(partitions: readonly number[], now: number): number | null {
    return this.#queues.dueAfter(partitions, now)
  }

  /** Entries that are due, in due order. */
  due(span: DueSpan): Entry[] {
    return this.#queues.due(span)
  }

  /** Adds a new entry, put at the transaction's `now`; entries with consecutive turns share a segment. */
  add(entry: Entry): void {
    let segment = this.#added.at(-1)
    if (segment === undefined || segment.firstTurn + segment.entries.length !== entry.turn) {
      segment = newSegment(entry.turn, entry.putAt)
      this.#added.push(segment)
      this.#segments.set(entry.turn, segment)
    }
    segment.entries.push(entry)
    this.#index(entry, segment)
  }

  /** Removes an entry: it fired, was cancelled, or stands in the table now. */
  remove(entry: Entry): void {
    const segment = this.#drop(entry)
    this.#removed.push({ entry, segment })
    this.#dirty.add(segment)
  }

  /**
   * Entries to fold into the table, the oldest segments first. Looks at every segment, since a clock that was set
   * back leaves young ones before old ones, but only into those that have an entry due late enough. A pulse
   * took 23 ms where there were 500,000 segments of one entry.
   */
  foldable({ putBefore, dueAfter, dueAfterIfSparse, limit }: Foldable): Entry[] {
    const found: Entry[] = []
    for (const segment of this.#segments.values()) {
      const from = segment.live <= SPARSE * segment.entries.length ? dueAfterIfSparse : dueAfter
      if (segment.putAt > putBefore || segment.lastDueAt <= from) continue
      segment.lastDueAt = -Infinity
      for (const entry of segment.entries) {
        if (entry === null || !this.#segmentOf.has(entry)) continue
        segment.lastDueAt = Math.max(segment.lastDueAt, entry.next.dueAt)
        if (entry.next.dueAt > from && found.length < limit) found.push(entry)
      }
      if (found.length === limit) break
    }
    return found
  }

  /** Follows what other processes have appended, removed and folded; costs as much as they did, not as there is. */
  refresh(): void {
    const change = this.#counter('last_change')
    const missed = this.#change < this.#counter('last_purged')
    if (missed) this.#forgetAll()
    else this.#followRemoved()
    const rows = this.#database.statement('segments_after').all(this.#pool, this.#lastTurn)
    for (const { first_turn: firstTurn, bits } of rows as unknown as SegmentRow[]) {
      if (!this.#segments.has(firstTurn)) this.#load(firstTurn, [...(bits ?? [])])
      this.#lastTurn = firstTurn
    }
    this.#change = change
  }

  flush(): void {
    for (const segment of this.#added) if (segment.live > 0) this.#write(segment)
    if (this.#dirty.size === 0) return
    this.#newChange = this.#counter('new_change')
    for (const segment of this.#dirty) this.#saveRemoved(segment, this.#newChange)
  }

  committed(): void {
    for (const segment of this.#dirty) if (segment.live === 0) this.#segments.delete(segment.firstTurn)
    for (const { entry, segment } of this.#removed) segment.entries[entry.turn - segment.firstTurn] = null
    // Everything before was followed under the same lock.
    this.#lastTurn = this.#added.at(-1)?.firstTurn ?? this.#lastTurn
    this.#change = this.#newChange ?? this.#change
    this.#clear()
  }

  rolledBack(): void {
    // New entries first: one of them may have the name of a removed one.
    for (const segment of this.#added) this.#discard(segment)
    for (const { entry, segment } of this.#removed) {
      if (!this.#segments.has(segment.firstTurn)) continue
      setBit(segment.bits, entry.turn - segment.firstTurn, false)
      this.#index(entry, segment)
    }
    this.#clear()
  }

  #write(segment: JournalSegment): void {
    const { firstTurn, putAt } = segment
    this.#database.statement('add_segment').run(firstTurn, this.#pool, putAt, encode(segment))
  }

  #clear(): void {
    this.#dirty.clear()
    this.#added = []
    this.#removed = []
    this.#newChange = null
  }

  #counter(query: 'new_change' | 'last_change' | 'last_purged'): number {
    return this.#database.statement(query).get()?.['next'] as number
  }

  #saveRemoved({ firstTurn, bits, live }: JournalSegment, change: number): void {
    if (live > 0) {
      this.#database.statement('save_gone').run(firstTurn, change, Uint8Array.from(bits))
      return
    }
    this.#database.statement('delete_segment').run(firstTurn)
    this.#database.statement('delete_gone').run(firstTurn)
    this.#database.statement('add_emptied').run(change, firstTurn)
  }

  /** Segments that are not known are another pool's, or new and read afterwards. */
  #followRemoved(): void {
    for (const { segment } of this.#database.statement('emptied_since').all(this.#change)) {
      const known = this.#segments.get(segment as number)
      if (known !== undefined) this.#discard(known)
    }
    for (const { segment, bits } of this.#database.statement('gone_since').all(this.#change)) {
      const known = this.#segments.get(segment as number)
      if (known !== undefined) this.#apply(known, [...(bits as Uint8Array)])
    }
  }

  /** What other processes emptied is not to be known any more: read everything again. */
  #forgetAll(): void {
    for (const segment of this.#segments.values()) this.#discard(segment)
    this.#lastTurn = 0
  }

  #load(firstTurn: number, bits: number[]): void {
    const row = this.#database.statement('load_segment').get(firstTurn) as { put_at: number; entries: string }
    const segment = { ...newSegment(firstTurn, row.put_at), bits }
    this.#segments.set(firstTurn, segment)
    for (const [index, parts] of decode(row.entries).entries()) {
      const entry = hasBit(bits, index) ? null : revive(parts, firstTurn + index, row.put_at)
      segment.entries.push(entry)
      if (entry !== null) this.#index(entry, segment)
    }
  }

  /** Drops what `bits` says is gone and was not known to be. */
  #apply(segment: JournalSegment, bits: number[]): void {
    for (const [index, byte] of bits.entries()) {
      if (byte === segment.bits[index]) continue
      for (let place = 8 * index; place < 8 * index + 8; place++) {
        const entry = segment.entries[place] ?? null
        if (entry === null || !hasBit(bits, place)) continue
        this.#drop(entry)
        segment.entries[place] = null
      }
    }
  }

  #discard(segment: JournalSegment): void {
    for (const entry of segment.entries) {
      if (entry !== null && this.#segmentOf.get(entry) === segment) this.#drop(entry)
    }
    this.#segments.delete(segment.firstTurn)
  }

  #index(entry: Entry, segment: JournalSegment): void {
    const { key, slot } = entry
    const found = this.#byKey.get(key)
    if (found === undefined) this.#byKey.set(key, entry)
    else if (found instanceof Map) found.set(slot as number, entry)
    else this.#byKey.set(key, new Map([found, entry].map((each) => [each.slot as number, each])))
    this.#segmentOf.set(entry, segment)
    this.#queues.add(entry)
    segment.live += 1
    segment.lastDueAt = Math.max(segment.lastDueAt, entry.next.dueAt)
    this.#size += 1
    this.#payloadLength += entry.next.payload?.length ?? 0
  }

  #drop(entry: Entry): JournalSegment {
    const segment = this.#segmentOf.get(entry)
    assert(segment !== undefined, `the journal holds ${entry.key} with turn ${entry.turn}`)
    const found = this.#byKey.get(entry.key)
    if (found instanceof Map && found.size > 1) found.delete(entry.slot as number)
    else this.#byKey.delete(entry.key)
    this.#segmentOf.delete(entry)
    this.#queues.remove(entry)
    setBit(segment.bits, entry.turn - segment.firstTurn, true)
    segment.live -= 1
    this.#size -= 1
    this.#payloadLength -= entry.next.payload?.length ?? 0
    return segment
  }
}
