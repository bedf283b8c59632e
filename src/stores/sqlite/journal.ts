// The journal: young entries of a pool in mode `each`, appended to the file one commit at a time and indexed
// in memory. A random write per tick into the table's indexes costs 15 to 40 µs; an append costs 2. Entries
// here never change: they go (fired, cancelled) or are folded into the table. See docs/decisions/0007.
import { assert } from '../../errors.ts'
import type { Entry } from '../../pool/entry.ts'
import type { TakeRequest } from '../../pool/store.ts'
import type { Database } from './database.ts'
import { DueQueue, type DueRange } from './due-queue.ts'
import type { Mirror } from './session.ts'

/** Entries of one commit, their turns one after another. */
interface Segment {
  firstTurn: number
  entries: Entry[]
  /** Bit i of these bytes: entry i is gone. */
  bits: number[]
  live: number
}

/** About 400 bytes of memory each. */
const MOST_ENTRIES = 500_000
/** Characters of payloads. */
const MOST_PAYLOAD = 64 * 1024 * 1024

interface SegmentRow {
  first_turn: number
  bits: Uint8Array | null
}

type Row = [key: string, slot: number, partition: number, payload: string | null]

export class Journal implements Mirror {
  readonly #database: Database
  readonly #pool: number
  readonly #segments = new Map<number, Segment>()
  /** By key; almost every key has one slot. */
  readonly #byKey = new Map<string, Entry | Map<number, Entry>>()
  readonly #segmentOf = new Map<Entry, Segment>()
  readonly #queue = new DueQueue()
  readonly #dirty = new Set<Segment>()
  #added: Segment[] = []
  #removed: { entry: Entry; segment: Segment }[] = []
  #size = 0
  #payloadLength = 0

  constructor(database: Database, pool: number) {
    this.#database = database
    this.#pool = pool
  }

  get size(): number {
    return this.#size
  }

  /** Whether new entries may begin here; else they go to the table at once, which is slower and bounds memory. */
  get hasRoom(): boolean {
    return this.#size < MOST_ENTRIES && this.#payloadLength < MOST_PAYLOAD
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
    return this.#queue.page(range)
  }

  countDue(now: number): number {
    return this.#queue.countUntil(now)
  }

  nextDueAt(): number | null {
    return this.#queue.nextDueAt()
  }

  /** Entries that are due in [request.from, now], in due order. */
  due({ lane, partitions, from, limit }: TakeRequest, now: number): Entry[] {
    if (lane !== 'normal') return []
    const found: Entry[] = []
    for (const entry of this.#queue.walk(from, now)) {
      if (found.length === limit) break
      if (partitions === null || partitions.includes(entry.partition)) found.push(entry)
    }
    return found
  }

  /** Adds a new entry, put at the transaction's `now`; entries with consecutive turns share a segment. */
  add(entry: Entry): void {
    let segment = this.#added.at(-1)
    if (segment === undefined || segment.firstTurn + segment.entries.length !== entry.turn) {
      segment = { firstTurn: entry.turn, entries: [], bits: [], live: 0 }
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

  /** Entries to fold into the table: put before `putBefore`, due after `dueAfter`, the oldest first. */
  foldable(putBefore: number, dueAfter: number, limit: number): Entry[] {
    const found: Entry[] = []
    for (const segment of this.#segments.values()) {
      if ((segment.entries[0]?.putAt ?? Infinity) > putBefore) break
      for (const entry of segment.entries) {
        if (found.length === limit) return found
        if (entry.next.dueAt > dueAfter && this.#segmentOf.has(entry)) found.push(entry)
      }
    }
    return found
  }

  /** Follows what other processes have appended, removed and folded. */
  refresh(): void {
    const rows = this.#database.statement('segments').all(this.#pool) as unknown as SegmentRow[]
    const present = new Set(rows.map((row) => row.first_turn))
    for (const segment of this.#segments.values()) if (!present.has(segment.firstTurn)) this.#discard(segment)
    for (const { first_turn: firstTurn, bits } of rows) this.#follow(firstTurn, [...(bits ?? [])])
  }

  flush(): void {
    for (const segment of this.#added) if (segment.live > 0) this.#write(segment)
    for (const segment of this.#dirty) {
      if (segment.live > 0) {
        this.#database.statement('save_gone').run(segment.firstTurn, Uint8Array.from(segment.bits))
        continue
      }
      this.#database.statement('delete_segment').run(segment.firstTurn)
      this.#database.statement('delete_gone').run(segment.firstTurn)
    }
  }

  committed(): void {
    for (const segment of this.#dirty) if (segment.live === 0) this.#segments.delete(segment.firstTurn)
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

  #write({ firstTurn, entries }: Segment): void {
    const rows = entries.map((entry): Row => [
      entry.key,
      entry.slot as number,
      entry.partition,
      entry.next.payload,
    ])
    const putAt = (entries[0] as Entry).putAt
    this.#database.statement('add_segment').run(firstTurn, this.#pool, putAt, JSON.stringify(rows))
  }

  #clear(): void {
    this.#dirty.clear()
    this.#added = []
    this.#removed = []
  }

  #follow(firstTurn: number, bits: number[]): void {
    const known = this.#segments.get(firstTurn)
    if (known === undefined) this.#load(firstTurn, bits)
    else this.#apply(known, bits)
  }

  #load(firstTurn: number, bits: number[]): void {
    const row = this.#database.statement('load_segment').get(firstTurn) as { put_at: number; entries: string }
    const entries = (JSON.parse(row.entries) as Row[]).map((parts, index) =>
      revive(parts, firstTurn + index, row.put_at),
    )
    const segment: Segment = { firstTurn, entries, bits, live: 0 }
    this.#segments.set(firstTurn, segment)
    entries.forEach((entry, index) => {
      if (!hasBit(bits, index)) this.#index(entry, segment)
    })
  }

  /** Drops what `bits` says is gone and was not known to be. */
  #apply(segment: Segment, bits: number[]): void {
    for (const [index, byte] of bits.entries()) {
      if (byte === segment.bits[index]) continue
      const eight = segment.entries.slice(8 * index, 8 * index + 8)
      for (const entry of eight) {
        if (hasBit(bits, entry.turn - segment.firstTurn) && this.#segmentOf.has(entry)) this.#drop(entry)
      }
    }
  }

  #discard(segment: Segment): void {
    for (const entry of segment.entries) if (this.#segmentOf.get(entry) === segment) this.#drop(entry)
    this.#segments.delete(segment.firstTurn)
  }

  #index(entry: Entry, segment: Segment): void {
    const { key, slot } = entry
    const found = this.#byKey.get(key)
    if (found === undefined) this.#byKey.set(key, entry)
    else if (found instanceof Map) found.set(slot as number, entry)
    else this.#byKey.set(key, new Map([found, entry].map((each) => [each.slot as number, each])))
    this.#segmentOf.set(entry, segment)
    this.#queue.add(entry)
    segment.live += 1
    this.#size += 1
    this.#payloadLength += entry.next.payload?.length ?? 0
  }

  #drop(entry: Entry): Segment {
    const segment = this.#segmentOf.get(entry)
    assert(segment !== undefined, `the journal holds ${entry.key} with turn ${entry.turn}`)
    const found = this.#byKey.get(entry.key)
    if (found instanceof Map && found.size > 1) found.delete(entry.slot as number)
    else this.#byKey.delete(entry.key)
    this.#segmentOf.delete(entry)
    this.#queue.remove(entry)
    setBit(segment.bits, entry.turn - segment.firstTurn, true)
    segment.live -= 1
    this.#size -= 1
    this.#payloadLength -= entry.next.payload?.length ?? 0
    return segment
  }
}

function revive([key, slot, partition, payload]: Row, turn: number, putAt: number): Entry {
  return {
    key,
    slot,
    group: key,
    partition,
    turn,
    lane: 'normal',
    next: { dueAt: Math.max(slot, putAt), tally: 1, payload },
    after: null,
    attempt: 0,
    state: 'live',
    failing: false,
    enqueuedAt: putAt,
    putAt,
  }
}

function hasBit(bits: number[], index: number): boolean {
  return ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}

function setBit(bits: number[], index: number, on: boolean): void {
  while (bits.length <= index >> 3) bits.push(0)
  const mask = 1 << (index & 7)
  const byte = bits[index >> 3] as number
  bits[index >> 3] = on ? byte | mask : byte & ~mask
}
