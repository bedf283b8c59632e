// What a worker must know of what steers its pool, from outside: the version that it has heard of by a pulse, and has had the
// time to read. It may know a later one. Rule [L12] of docs/spec/limits.md.
import type { Clock } from '../../clock.ts'
import type { Control, Share } from '../../pool/control.ts'
import type { Controlled } from '../../pool/store.ts'
import type { Pulse } from '../../store.ts'
import { JOBS } from './jobs.ts'

/** A worker looks again so long after its last look, if it has heard of something meanwhile. */
const LOOK_AGAIN_MS = 20

export interface JobKnowledgeParts {
  clock: Clock
  /** Since when this member goes on after it stood still, by its monotonic clock. */
  awakeSince(): number
  /** How far the store's clock is ahead of this member's. */
  aheadMs(): number
  /** For how long a member trusts what a pulse told, from when it was sent. */
  trustMs: number
}

interface Told {
  version: number
  at: number
}

/** A pulse that was answered: how long it took, and how far the store was ahead when it was sent. */
interface Heard {
  tookMs: number
  aheadMs: number
}

export class JobKnowledge {
  readonly #parts: JobKnowledgeParts
  /** Null: it must read before it starts anything. */
  #known: number | null = null
  /** What it knew before that, and when it came to know it. */
  #knew: { version: number | null; until: number } = { version: null, until: -Infinity }
  /** It knew nothing before, and has not been told of a version since. */
  #isNew = false
  #told: Told[] = []
  #underWay = 0
  #readAt = -Infinity
  #lastRead: Told = { version: 0, at: -Infinity }
  #toldOf = -Infinity
  #heard: Heard = { tookMs: Infinity, aheadMs: 0 }

  constructor(parts: JobKnowledgeParts) {
    this.#parts = parts
  }

  /** Whether it is being read or written, or was in this very moment. */
  get isBeingRead(): boolean {
    return this.#underWay > 0 || this.#readAt === this.#parts.clock.mono()
  }

  /** The earliest version that it may go by; null: it may start nothing. */
  get known(): number | null {
    this.#ripen()
    return this.#known
  }

  /** The same before this very moment, in which it may have decided already. */
  get knownBefore(): number | null {
    const { known } = this
    if (this.#knew.until !== this.#parts.clock.mono() || known === null) return known
    return this.#knew.version === null ? null : Math.min(known, this.#knew.version)
  }

  /** How wrong the store's time may be that it knows; Infinity: a clock has jumped since. */
  get slackMs(): number {
    return this.#heard.aheadMs === this.#parts.aheadMs() ? this.#heard.tookMs + 2 : Infinity
  }

  /** What steers the pool is asked for, or written. */
  begin(): void {
    this.#ripen()
    this.#underWay += 1
  }

  /** That was answered, or has failed. */
  end(): void {
    this.#underWay -= 1
    this.#readAt = this.#parts.clock.mono()
  }

  /** A read was answered. Whose it was is not known: of several that may have told it, the earliest counts. */
  read({ version }: Controlled): void {
    this.#isNew ||= this.#known === null
    if (this.#isNew) this.#know(Math.min(this.#known ?? Infinity, version))
    this.#lastRead = { version, at: this.#parts.clock.mono() }
  }

  /** It has written its own share: it goes by that. */
  wrote(version: number): void {
    this.#know(Math.max(this.#known ?? 0, version))
    this.#isNew = false
  }

  /** A pulse that was sent then was answered. One that told nothing makes it forget, and so does the end of a doubt. */
  pulsed({ controls }: Pulse, sentAt: number, aheadMs: number): void {
    if (sentAt < this.#toldOf) return
    const now = this.#parts.clock.mono()
    const wasInDoubt = now > this.#toldOf + this.#parts.trustMs
    this.#toldOf = sentAt
    this.#heard = { tookMs: now - sentAt, aheadMs }
    const version = controls.get(JOBS)
    if (version === undefined || wasInDoubt) {
      // What was read in this very moment the worker may be told of before or after.
      this.#know(this.#lastRead.at === now ? this.#lastRead.version : null)
      this.#told = []
      this.#isNew = this.#known !== null
    }
    if (version === undefined) return
    this.#ripen()
    if (version > (this.#told.at(-1)?.version ?? this.#known ?? -1)) this.#told.push({ version, at: now })
  }

  #know(version: number | null): void {
    const now = this.#parts.clock.mono()
    if (this.#knew.until !== now) this.#knew = { version: this.#known, until: now }
    this.#known = version
  }

  /** What it was told of, and then had the time to read, it knows. */
  #ripen(): void {
    const { clock } = this.#parts
    if (this.#underWay > 0 || this.#known === null || this.#told.length === 0) return
    const quietAt = Math.max(this.#readAt, this.#parts.awakeSince())
    const ripe = this.#told.filter(({ at }) => clock.mono() > Math.max(at, quietAt) + LOOK_AGAIN_MS)
    if (ripe.length === 0) return
    this.#told = this.#told.slice(ripe.length)
    this.#know(Math.max(this.#known, ...ripe.map(({ version }) => version)))
    this.#isNew = false
  }
}

/** Whether a member writes its own share by this. Who gives it back, cancels, pauses or limits does not. */
export function isOwnShare(before: Control, after: Control): boolean {
  const told = ({ member, concurrency, rate }: Share): string =>
    [member, concurrency.has, concurrency.wants, rate.has, rate.wants].join()
  const known = new Set(before.shares.filter(({ endsAt }) => endsAt === null).map(told))
  return after.shares.some((share) => share.endsAt === null && !known.has(told(share)))
}
