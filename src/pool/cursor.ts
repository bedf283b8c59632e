// From where the takes of one lane read, and when the next one is worth while. Pure: times are the store's, and come from
// outside. Rules [X7] to [X10] and [X48] of docs/spec/work.md.

/** How far the cursor stays behind the time of a take: most puts that commit late are within. */
const MARGIN_MS = 250
const SWEEP_EVERY_MS = 1000
const SWEEP_AT_LEAST_EVERY_MS = 5000
/** How many runs in flight, which a sweep reads again, make it a millisecond rarer. */
const SWEPT_PER_MS = 4
/** Twice the statement timeout of a put. */
const LOOK_BACK_MS = 10_000
const FULL_EVERY_MS = 600_000

export interface CursorTake {
  /** The store's time at the read. */
  now: number
  /** From when on the limit has left out what is due; null: it answered all. */
  cutAt: number | null
  /** When the next run is due that was not yet; null: none is, or the answer was cut. */
  nextDueAt: number | null
  /** Its time was over before it had read all: from `cutAt` on it did not. [D6] */
  isPart?: boolean
}

interface UnderWay {
  from: number
  /** It looks for what was passed over, and leaves the cursor where it stands. */
  isBack: boolean
  /** It goes on with what an earlier one did not come to. */
  isRest: boolean
  isSweep: boolean
  isFull: boolean
}

export class Cursor {
  /** What was due before it has been read. */
  #at = 0
  /** The earliest that was told of since the last take began. */
  #told = Infinity
  #wakeAt = 0
  /** The store's time at the last sweep that was answered, and at the last that read everything; null: never. */
  #sweptAt = 0
  #fullAt: number | null = null
  #underWay: UnderWay | null = null
  /** From where something may start that was passed over because of a limit. */
  #back = Infinity
  #wasBack = false
  /** From where to the cursor something may be due that no take came to in its time; Infinity: nothing. */
  #rest = Infinity
  #wasRest = false

  /** When the next take is worth while: now if it is past, never if it is Infinity. */
  get wakeAt(): number {
    return this.#back < Infinity || this.isBehind ? 0 : this.#wakeAt
  }

  /** Whether something behind the cursor is yet to be read, since takes had no time for it. */
  get isBehind(): boolean {
    return this.#rest < Infinity
  }

  /** Whether the next take is a sweep with so many of the lane in flight, at this time of the store, which may have been set back. */
  sweeps(now: number, inFlight: number): boolean {
    const isBack = now < this.#sweptAt - SWEEP_EVERY_MS
    const everyMs = Math.max(SWEEP_EVERY_MS, Math.min(inFlight / SWEPT_PER_MS, SWEEP_AT_LEAST_EVERY_MS))
    return this.#fullAt === null || now >= this.#sweptAt + everyMs || isBack
  }

  /** A take begins while so many of the lane are in flight; answers from where it reads. */
  begin(now: number, inFlight: number): number {
    // In turns, if there is something new, too.
    this.#wasBack = this.#back < Infinity && !(this.#wasBack && this.#wakeAt <= now)
    if (this.#wasBack) return this.#beginBack()
    // In turns with what is new, which is not to wait until everything was read. A take-over reads all of it again.
    this.#wasRest = this.isBehind && !this.#wasRest && this.#fullAt !== null
    if (this.#wasRest) return this.#beginRest()
    const isFull = this.#fullAt === null || now >= this.#fullAt + FULL_EVERY_MS
    const isSweep = this.sweeps(now, inFlight)
    const lookBack = isSweep ? this.#sweptAt - LOOK_BACK_MS : Infinity
    const from = isFull ? 0 : Math.max(0, Math.min(this.#at, this.#told, lookBack))
    this.#underWay = { from, isBack: false, isRest: false, isSweep, isFull }
    if (isFull) this.#rest = Infinity
    this.#told = Infinity
    this.#wakeAt = Infinity
    return from
  }

  #beginBack(): number {
    const from = this.#back
    this.#underWay = { from, isBack: true, isRest: false, isSweep: false, isFull: false }
    this.#back = Infinity
    return from
  }

  #beginRest(): number {
    const from = this.#rest
    this.#underWay = { from, isBack: false, isRest: true, isSweep: false, isFull: false }
    this.#rest = Infinity
    return from
  }

  /** It was answered. What was told of meanwhile counts for the next one. */
  end({ now, cutAt, nextDueAt, isPart = false }: CursorTake): void {
    const underWay = this.#underWay
    if (underWay === null) return
    this.#underWay = null
    if (underWay.isBack) {
      if (isPart && cutAt !== null) this.lookBack(cutAt)
      return
    }
    if (underWay.isRest || isPart) return this.#endRest(underWay, now, cutAt)
    this.#at = Math.min(now - MARGIN_MS, cutAt ?? Infinity)
    this.wakeBy(cutAt === null ? (nextDueAt ?? Infinity) : 0)
    // Cut or not, it is one: what it did not come to lies behind the cursor no more.
    if (underWay.isFull) this.#fullAt = now
    if (now < this.#sweptAt) this.widen()
    if (underWay.isSweep) this.#sweptAt = now
  }

  /** It read a part of what lies behind; the next ones go on there, and the cursor stays, or stands where sweeps look back to. */
  #endRest({ isRest, isSweep, isFull }: UnderWay, now: number, cutAt: number | null): void {
    if (!isRest) {
      this.#at = Math.min(Math.max(this.#at, now - LOOK_BACK_MS), now - MARGIN_MS)
      this.#wakeAt = 0
      if (isFull) this.#fullAt = now
      if (now < this.#sweptAt) this.widen()
      if (isSweep) this.#sweptAt = now
    }
    if (cutAt !== null && cutAt < this.#at) this.#rest = Math.min(this.#rest, cutAt)
  }

  /** It failed: the next one reads from the same place. */
  fail(): void {
    if (this.#underWay === null) return
    if (this.#underWay.isBack) this.lookBack(this.#underWay.from)
    else if (this.#underWay.isRest) this.#rest = Math.min(this.#rest, this.#underWay.from)
    else {
      this.#told = Math.min(this.#told, this.#underWay.from)
      this.#wakeAt = 0
    }
    this.#underWay = null
  }

  /** Something is due then, and may lie behind the cursor. */
  lower(dueAt: number): void {
    if (dueAt < this.#told) this.#told = dueAt
    this.wakeBy(dueAt)
  }

  /** A take from there is worth while now; what lies between there and the cursor is known, or remembered. [L16] */
  lookBack(dueAt: number): void {
    this.#back = Math.min(this.#back, dueAt)
  }

  /** A take is worth while from then on. */
  wakeBy(at: number): void {
    if (at < this.#wakeAt) this.#wakeAt = at
  }

  /** The next take reads everything, and is made at once. Also one that is under way did not. */
  widen(): void {
    this.#fullAt = null
    this.#wakeAt = 0
    if (this.#underWay !== null) this.#underWay.isFull = false
  }
}
