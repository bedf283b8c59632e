// Judges a life of any length in bounded memory, from outside: it knows a tick from its put until its event is read from
// the topic, a page at a time, and then forgets it.
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { poolResource } from '../../fence.ts'
import type { LogEvent, Position } from '../../log/store.ts'
import type { EntryCursor } from '../../pool/store.ts'
import { cursorOf } from '../../pool/order.ts'
import type { Store } from '../../store.ts'
import { POOL } from './swarm.ts'

export interface LongCounts {
  /** Ticks whose put was answered. */
  ticks: number
  /** Ticks that were asked for until the end, and never answered. */
  unanswered: number
  fired: number
  /** Not on the topic in time, or at the end not in the pool. */
  lost: number
  /** Moved before they were due, by the clock, or at a time at which nothing was. */
  early: number
  /** Moved again. */
  twice: number
  /** On the topic, or at the end in the pool, and nobody asked for them. */
  phantom: number
  /** Partitions whose owner had died. */
  takeovers: number
  /** How late the latest tick was, counted from its answer if that came after it was due. */
  latestMs: number
}

interface Asked {
  at: number
  /** Null: its put was not answered, so that it may be there or not. */
  answeredAt: number | null
}

export interface LongWitnessParts {
  store: Store
  clock: Clock
  partitions: number
  /** How late a tick may be. */
  withinMs: number
  isDead(owner: string): boolean
}

const PAGE = 1000
const PAGE_BYTES = 1 << 22
/** So many violations are told; all are counted. */
const MOST_TOLD = 20

export class LongWitness {
  readonly #parts: LongWitnessParts
  readonly #asked = new Map<string, Asked>()
  readonly #positions: Position[]
  readonly #owners = new Map<number, string>()
  /** When the topic grew, since it was last read: what an event says of its time is the mover's word. */
  readonly #grewAt = new Set<number>()
  readonly #hash = createHash('sha256')
  #numbers = 0
  readonly counts: LongCounts = {
    ticks: 0,
    unanswered: 0,
    fired: 0,
    lost: 0,
    early: 0,
    twice: 0,
    phantom: 0,
    takeovers: 0,
    latestMs: 0,
  }
  /** The first of them, in words. */
  readonly violations: string[] = []

  constructor(parts: LongWitnessParts) {
    this.#parts = parts
    this.#positions = Array.from({ length: parts.partitions }, (_, partition) => ({ partition, offset: 0 }))
    // The store hints within the step, and no virtual hint is lost: one that was would show as an event out of time.
    parts.store.watch((hint) => {
      if (hint.kind === 'appended' && hint.topic === POOL) this.#grewAt.add(parts.clock.now())
    })
  }

  /** A tick is about to be asked for; answers its item, which no other has. */
  ask(at: number): string {
    const item = itemOf(this.#numbers)
    this.#numbers += 1
    this.#asked.set(item, { at, answeredAt: null })
    return item
  }

  answered(item: string): void {
    this.counts.ticks += 1
    const asked = this.#asked.get(item)
    if (asked !== undefined) asked.answeredAt = this.#parts.clock.now()
  }

  /** What happened, for the hash. */
  note(what: string): void {
    this.#hash.update(`${this.#parts.clock.now()} ${what}\n`)
  }

  /** Reads what is new on the topic, and who holds what. */
  async look(): Promise<void> {
    const { store, clock } = this.#parts
    const now = clock.now()
    for (let more = true; more;) {
      const page = await store.log.read(POOL, { from: this.#positions, limit: PAGE, maxBytes: PAGE_BYTES })
      for (const event of page.events) this.#read(event)
      more = page.more
    }
    for (const at of this.#grewAt) if (at < now) this.#grewAt.delete(at)
    for (const { partition, owner } of await store.fences.fences(poolResource(POOL))) {
      const before = this.#owners.get(partition)
      this.#owners.set(partition, owner)
      if (before !== undefined && before !== owner && this.#parts.isDead(before)) this.counts.takeovers += 1
    }
  }

  #read({ id, key, partition, offset, time }: LogEvent): void {
    this.#hash.update(`${partition} ${offset} ${id} ${time}\n`)
    const position = this.#positions[partition] as Position
    if (offset !== position.offset) this.#say('lost', `${id} stands at ${offset}, not ${position.offset}`)
    position.offset = offset + 1
    const asked = this.#asked.get(key)
    if (asked === undefined) return this.#unknown(id, key)
    this.#asked.delete(key)
    this.counts.fired += 1
    if (time < asked.at) this.#say('early', `${id} fired ${asked.at - time} ms early`)
    else if (!this.#grewAt.has(time)) this.#say('early', `${id} is of ${time}, when nothing fired`)
    if (asked.answeredAt === null) return
    const lateMs = time - dueAt(asked)
    if (lateMs > this.#parts.withinMs) this.#say('lost', `${id} fired ${lateMs} ms late`)
    this.counts.latestMs = Math.max(this.counts.latestMs, lateMs)
  }

  #unknown(id: string, key: string): void {
    const number = numberOf(key)
    const wasAsked = Number.isInteger(number) && number < this.#numbers
    this.#say(wasAsked ? 'twice' : 'phantom', `${id} fired ${wasAsked ? 'again' : 'unasked'}`)
  }

  /** Looks for ticks that should have fired; each counts once, and is then forgotten. */
  judgeLate(): void {
    const now = this.#parts.clock.now()
    for (const [item, asked] of this.#asked) {
      if (asked.answeredAt === null || dueAt(asked) + this.#parts.withinMs >= now) continue
      this.#say('lost', `${item}, due ${now - asked.at} ms ago, has not fired`)
      this.#asked.delete(item)
    }
  }

  /** To be called once, at the end: what has not fired must wait, and nothing else may. Answers the hash. */
  async judge(): Promise<string> {
    await this.look()
    this.judgeLate()
    let after: EntryCursor | undefined
    do {
      const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
      const { entries } = await this.#parts.store.pool.browse.list(POOL, query)
      for (const { key, slot } of entries) {
        const asked = this.#asked.get(key)
        if (asked?.at === slot) this.#asked.delete(key)
        else this.#say('phantom', `${key} waits for ${slot} unasked`)
      }
      const last = entries.at(-1)
      after = last === undefined ? undefined : cursorOf(last)
    } while (after !== undefined)
    for (const [item, { answeredAt }] of this.#asked) {
      if (answeredAt !== null) this.#say('lost', `${item} neither fired nor waits`)
    }
    this.counts.unanswered = this.#numbers - this.counts.ticks
    if (this.counts.unanswered > 0) this.violations.push(`${this.counts.unanswered} puts were never answered`)
    return this.#hash.digest('hex').slice(0, 16)
  }

  #say(kind: 'lost' | 'early' | 'twice' | 'phantom', violation: string): void {
    this.counts[kind] += 1
    if (this.violations.length < MOST_TOLD) this.violations.push(violation)
  }
}

/** From when on its event is waited for. */
function dueAt({ at, answeredAt }: Asked): number {
  return Math.max(at, answeredAt ?? at)
}

function itemOf(number: number): string {
  return `item-${number}`
}

function numberOf(item: string): number {
  return item.startsWith('item-') ? Number(item.slice('item-'.length)) : Number.NaN
}
