// Keeps a member's share of the limits of a pool: reads what steers the pool, writes what the member has of it, and knows
// how much it may use. Rules [L17] to [L21] of docs/spec/limits.md.
import type { Timer } from '../clock.ts'
import type { Control } from './control.ts'
import type { LimiterParts } from './limiter-parts.ts'
import { KINDS, type Kind, type Own, isSharedOut, reshare, sizeOf, wishOf, withoutShare } from './shares.ts'
import type { Controlled } from './store.ts'

type Shared =
  | 'pool'
  | 'control'
  | 'ownership'
  | 'clock'
  | 'time'
  | 'telemetry'
  | 'concurrency'
  | 'isHungry'
  | 'wake'

export interface ShareKeeperParts extends Pick<LimiterParts, Shared> {
  /** How much of each limit is used now. */
  used(): Record<Kind, number>
  /** This steers the pool now, and the caps may be others. */
  changed(control: Control): void
}

/** The shortest time between two looks at the share. */
const LOOK_EVERY_MS = 20
/** After one that failed. */
const RETRY_MS = 500
/** Others may write at the same time. */
const MOST_TRIES = 5

const NOTHING = { concurrency: 0, rate: 0 }

export class ShareKeeper {
  readonly #parts: ShareKeeperParts
  #found: Controlled | null = null
  /** How often trust had returned when that was read. */
  #foundIn = 0
  /** It was known once, and may be another by now. */
  #isForgotten = false
  /** How much of each limit may be used. Lowered before a write that gives some up, raised after one that takes some. */
  #caps: Readonly<Record<Kind, number>> = NOTHING
  /** The latest version that was told of. */
  #told = 0
  /** The latest version that was read or written. */
  #seen = 0
  /** When it last wrote its share, by the monotonic clock. */
  #wroteAt = -Infinity
  /** A write was not answered, and may land yet: until another has, less counts. [L18] */
  #isUnsure = false
  /** It may have a share, and holds nothing of the pool. */
  #mustReturn = false
  /** Since the last look something waited that could not start. */
  #wasHeldBack = false
  #looking: Promise<void> | null = null
  #mustLookAgain = false
  #timer: Timer | null = null
  #isEnded = false

  constructor(parts: ShareKeeperParts) {
    this.#parts = parts
  }

  /** Whether it is known what steers the pool. In doubt it may have been changed, and nobody told. [L12] */
  get isKnown(): boolean {
    return this.#found !== null && this.#foundIn === this.#parts.ownership.trustReturns
  }

  get caps(): Readonly<Record<Kind, number>> {
    return this.#caps
  }

  /** Whether others have all that this member may not use of a limit; until then it can have more with its next look. */
  isSharedOut(kind: Kind): boolean {
    const { owner: member } = this.#parts.ownership.claim()
    return this.#found !== null && isSharedOut(this.#found.control, kind, { member, cap: this.#caps[kind] })
  }

  async learn(): Promise<void> {
    await this.#read()
    this.#lookSoon()
  }

  /** A pulse told this version. One that told none was not asked: by its next start this member may be behind. [L12] */
  notice(version: number | undefined): void {
    if (version === undefined) {
      this.#mustReturn ||= this.#isShared
      this.#isForgotten ||= this.#found !== null
      this.#found = null
      if (this.#mustReturn) this.#look()
      return
    }
    this.#mustReturn = false
    this.#told = Math.max(this.#told, version)
    // What was taken before waits for it: no take may be worth while that would read it.
    if (this.#found !== null || this.#isForgotten) this.#look()
  }

  hear(): void {
    if (this.#found === null) return
    this.#told = Math.max(this.#told, this.#found.version + 1)
    this.#look()
  }

  heldBack(): void {
    if (this.#wasHeldBack) return
    this.#wasHeldBack = true
    this.#lookSoon()
  }

  /** A run has ended: what it used may be what others are short of. */
  ended(): void {
    if (this.#mustReturn || (this.#isShared && this.#mustGive)) this.#lookSoon()
  }

  /** Gives back what is not used any more. One try: who is gone is found out by others. [L20] */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#timer?.cancel()
    await this.#looking
    if (this.#isShared || this.#mustReturn) await this.#giveBack().catch(() => undefined)
  }

  /**
   * What it uses it keeps: a pulse that was slow may not have asked for what is held by now, and a stop does not wait for a
   * handler that ignores its abort. That part is free when the member has left the roster. [L20]
   */
  async #giveBack(): Promise<void> {
    this.#caps = NOTHING
    const { control, pool, ownership } = this.#parts
    const member = ownership.claim().owner
    const found = await control.read(pool)
    const used = this.#parts.used()
    const { control: after, isChanged } = withoutShare(found.control, member, { now: found.now, used })
    // A write of its own that was not answered must not land after it.
    const mustWrite = isChanged || this.#isUnsure
    const written = mustWrite ? await this.#write(found.version, after) : found.version
    if (written === null) this.#mustLookAgain = true
    else this.#mustReturn &&= used.concurrency > 0
    // What was read before it, and is answered later, counts no more.
    this.#seen = Math.max(this.#seen, written ?? 0)
  }

  /** Null: another was before. One that is not answered may land yet. [L18] */
  async #write(version: number, after: Control): Promise<number | null> {
    const { control, pool, clock, telemetry } = this.#parts
    const wasUnsure = this.#isUnsure
    this.#isUnsure = true
    const written = await control.write(pool, version, after)
    this.#isUnsure = written === null && wasUnsure
    this.#told = Math.max(this.#told, written ?? 0)
    if (written === null) telemetry.emit('control.lost', { pool, by: 'share' })
    else this.#wroteAt = clock.mono()
    return written
  }

  get #isShared(): boolean {
    const limit = this.#found?.control.limits.pool
    return limit !== undefined && (limit.concurrency !== null || limit.rate !== null)
  }

  /** Whether it has more than it may use. */
  get #mustGive(): boolean {
    const { owner } = this.#parts.ownership.claim()
    const mine = this.#found?.control.shares.find(({ member }) => member === owner)
    return mine !== undefined && KINDS.some((kind) => mine[kind].has > this.#caps[kind])
  }

  #lookSoon(afterMs = LOOK_EVERY_MS): void {
    if (this.#timer !== null || this.#isEnded) return
    const ring = (): void => {
      this.#timer = null
      this.#look()
    }
    this.#timer = this.#parts.clock.timer(afterMs, ring, { background: true })
  }

  /** One look at a time; what changes during one is seen by the next. */
  #look(): void {
    if (this.#isEnded) return
    if (this.#looking !== null) {
      this.#mustLookAgain = true
      return
    }
    this.#mustLookAgain = false
    this.#looking = this.#lookOnce()
  }

  async #lookOnce(): Promise<void> {
    let afterMs = LOOK_EVERY_MS
    try {
      await (this.#mustReturn ? this.#giveBack() : this.#share())
    } catch {
      // It is behind: nothing starts until it could be read.
      this.#found = null
      this.#mustLookAgain = true
      afterMs = RETRY_MS
    }
    this.#looking = null
    if (this.#mustLookAgain) this.#lookSoon(afterMs)
    this.#parts.wake()
  }

  async #read(): Promise<void> {
    const { control, pool, clock, time } = this.#parts
    const sentAt = clock.now()
    const told = this.#told
    const foundIn = this.#parts.ownership.trustReturns
    const seen = this.#seen
    const found = await control.read(pool)
    time.hear(found.now, sentAt)
    // It was overtaken, by another read or by a write of its own; else the store has lost what it had answered.
    if (found.version < this.#seen && this.#seen !== seen) return
    this.#foundIn = foundIn
    this.#isForgotten = false
    // A hint may have promised more than there is.
    if (this.#told === told) this.#told = found.version
    this.#adopt(found, NOTHING)
  }

  async #share(): Promise<void> {
    const { time, clock } = this.#parts
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (!this.isKnown || this.#told > (this.#found?.version ?? 0)) await this.#read()
      if (this.#found === null) continue
      const { version, control: before } = this.#found
      const own = this.#own(before)
      if (!this.#isShared || own === null) return
      const { control: after, isChanged, caps } = reshare(before, own)
      this.#lower(caps)
      // Who is gone and does not know it would answer each write of the others by one of its own, and they it.
      if (isChanged && clock.mono() < this.#wroteAt + LOOK_EVERY_MS) break
      this.#wasHeldBack = false
      if (!isChanged && !this.#isUnsure) {
        this.#adopt({ version, control: before, now: time.now() }, caps)
        return
      }
      const written = await this.#write(version, after)
      if (written !== null && written > this.#seen) {
        this.#adopt({ version: written, control: after, now: time.now() }, caps)
        return
      }
      await this.#read()
    }
    this.#mustLookAgain = true
  }

  /** What was read tells what it must come down to; only what it wrote itself tells that it may use more. [L18] */
  #adopt(found: Controlled, caps: Readonly<Record<Kind, number>>): void {
    const isNews = found.version !== this.#found?.version
    const { owner } = this.#parts.ownership.claim()
    const mine = found.control.shares.find(({ member }) => member === owner)
    const { pool } = found.control.limits
    const capOf = (kind: Kind): number => {
      if (sizeOf(pool, kind) === null) return Infinity
      const most = Math.min(mine?.[kind].cut ?? Infinity, mine?.[kind].has ?? 0)
      const known = this.#caps[kind] === Infinity ? 0 : this.#caps[kind]
      return Math.min(Math.max(caps[kind], known), most)
    }
    const before = this.#caps
    this.#found = found
    this.#seen = found.version
    this.#caps = { concurrency: capOf('concurrency'), rate: capOf('rate') }
    const isOther = before.concurrency !== this.#caps.concurrency || before.rate !== this.#caps.rate
    if (isNews || isOther) this.#parts.changed(found.control)
  }

  #lower(caps: Readonly<Record<Kind, number>>): void {
    this.#caps = {
      concurrency: Math.min(this.#caps.concurrency, caps.concurrency),
      rate: Math.min(this.#caps.rate, caps.rate),
    }
  }

  /** Null: the roster does not know this member yet. */
  #own({ limits }: Control): Own | null {
    const { ownership, time, concurrency } = this.#parts
    const member = ownership.claim().owner
    const { view } = ownership
    const members = view === null ? null : new Set(view.members.map(({ id }) => id))
    if (members !== null && !members.has(member)) return null
    const used = this.#parts.used()
    const isHungry = this.#parts.isHungry()
    const isHeldBack = this.#wasHeldBack && isHungry
    const wants = wishOf(limits.pool, { used, concurrency, isHungry, isHeldBack })
    const roster = members === null || view === null ? null : { version: view.version, members }
    return { member, now: time.now(), roster, used, wants }
  }
}
