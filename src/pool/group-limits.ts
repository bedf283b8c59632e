// Which groups may start a run now. A group lives in one partition, so its owner alone counts. What is held back waits
// aside here, up to a bound; what is beyond it is passed over, and looked for again when its group has room.
// Rules [L13] to [L16] of docs/spec/limits.md.
import type { Held } from '../fence.ts'
import type { Limit, Rate } from './control.ts'
import type { Lane, TakenRun } from './entry.ts'
import type { Flight } from './run.ts'
import { SlidingLog } from './sliding-log.ts'
import { type Spaced, opensAt, roomAt, startedAt } from './spacing.ts'

interface Group {
  name: string
  running: number
  /** About to start. */
  reserved: number
  log: SlidingLog | null
  /** What started lately under a rate that is spread. */
  spaced: Spaced | null
  partition: number
  /** Taken and held back, in due order. */
  aside: Flight[]
  /** The earliest due time of what was passed over, by lane. */
  passedOver: Map<Lane, number>
}

/** What decides whether a group is open. */
type Counted = Pick<Group, 'running' | 'reserved' | 'log' | 'spaced' | 'partition'>

export interface GroupLimitsParts {
  mono(): number
  /** Something that was passed over may start: a take from there brings it. */
  lookBack(lane: Lane, dueAt: number): void
}

/** The most runs of one group that wait aside, and of all; a take may bring some more. */
const MOST_ASIDE = 100
const MOST_ASIDE_IN_ALL = 1000
/** So often groups are looked for that have nothing under way and start nothing. */
const FORGET_EVERY_MS = 1000

export class GroupLimits {
  readonly #parts: GroupLimitsParts
  #limit: Limit = { concurrency: null, rate: null }
  readonly #groups = new Map<string, Group>()
  /** Those that hold something back. */
  readonly #closed = new Set<Group>()
  /** What waited aside, and may start. */
  #ready: Flight[] = []
  #aside = 0
  /** Since when partitions are held, and under which epoch: what their groups started before is not known. */
  readonly #heldSince = new Map<number, { epoch: number; at: number }>()
  #changedAt = -Infinity
  #forgotAt = 0
  #nextOpensAt = Infinity

  constructor(parts: GroupLimitsParts) {
    this.#parts = parts
  }

  get isLimited(): boolean {
    return this.#limit.concurrency !== null || this.#limit.rate !== null
  }

  /** From now on this limit counts, also for what is under way. */
  change(limit: Limit, running: Iterable<Flight>, reserved: Iterable<Flight>): void {
    const perMs = limit.rate?.perMs ?? null
    // What was started before is known for the earlier span only.
    if (this.#limit.rate !== null && perMs !== this.#limit.rate.perMs) this.#changedAt = this.#parts.mono()
    this.#limit = limit
    for (const group of this.#groups.values()) {
      group.running = 0
      group.reserved = 0
      if (group.log?.perMs !== perMs) group.log = null
      if (group.log === null || limit.rate?.spread !== true) group.spaced = null
    }
    if (this.isLimited) for (const { taken } of running) this.#of(taken).running += 1
    if (this.isLimited) for (const { taken } of reserved) this.#of(taken).reserved += 1
    this.look()
  }

  /** Follows what is held. A partition of epoch 1 was nobody's before. [L15] */
  follow(held: readonly Held[]): void {
    const epochs = new Map(held.map(({ partition, epoch }) => [partition, epoch]))
    for (const partition of this.#heldSince.keys())
      if (!epochs.has(partition)) this.#heldSince.delete(partition)
    for (const [partition, epoch] of epochs) {
      if (this.#heldSince.get(partition)?.epoch === epoch) continue
      this.#heldSince.set(partition, { epoch, at: epoch === 1 ? -Infinity : this.#parts.mono() })
    }
  }

  /** Whether a run of the group may start now. */
  isOpen(taken: TakenRun): boolean {
    if (!this.isLimited) return true
    const group = this.#groups.get(taken.group)
    return this.#opensAt(group ?? nobody(taken.partition)) <= this.#parts.mono()
  }

  /** When a run of the group may start; Infinity: when one of it ends. */
  opensFor({ group, partition }: Pick<TakenRun, 'group' | 'partition'>): number {
    return this.#opensAt(this.#groups.get(group) ?? nobody(partition))
  }

  /** Why a run of the group may not start; null: it may. */
  why(taken: Pick<TakenRun, 'group' | 'partition'>): 'pool_full' | 'rate_limited' | null {
    if (!this.isLimited) return null
    const opensAt = this.opensFor(taken)
    if (opensAt <= this.#parts.mono()) return null
    return opensAt === Infinity ? 'pool_full' : 'rate_limited'
  }

  /** Whether a run that was taken shall be kept; one that is not is remembered by its due time. [L16] */
  admits(taken: TakenRun, lane: Lane): boolean {
    if (!this.isLimited) return true
    const aside = this.#groups.get(taken.group)?.aside.length ?? 0
    if (aside === 0 && this.isOpen(taken)) return true
    if (aside < MOST_ASIDE && this.#aside < MOST_ASIDE_IN_ALL) return true
    this.#passOver(this.#of(taken), lane, taken.dueAt)
    return false
  }

  #passOver(group: Group, lane: Lane, dueAt: number): void {
    group.passedOver.set(lane, Math.min(group.passedOver.get(lane) ?? Infinity, dueAt))
    this.#close(group)
  }

  #close(group: Group): void {
    this.#closed.add(group)
    const at = this.#opensAt(group)
    // One that has room already waits for something else than time.
    if (at > this.#parts.mono()) this.#nextOpensAt = Math.min(this.#nextOpensAt, at)
  }

  /** A take begins to be admitted that read this span of a lane: what was passed over there is passed over again, or not. */
  beginRead(lane: Lane, from: number, until: number): void {
    for (const group of this.#closed) {
      const dueAt = group.passedOver.get(lane)
      if (dueAt === undefined || dueAt < from || dueAt > until) continue
      // What the take did not come to begins where it ended.
      if (until < Infinity) group.passedOver.set(lane, until)
      else group.passedOver.delete(lane)
    }
  }

  /** Puts a run aside whose group is closed. */
  park(flight: Flight): void {
    const group = this.#of(flight.taken)
    const place = group.aside.findLastIndex(({ taken }) => taken.dueAt <= flight.taken.dueAt)
    group.aside.splice(place + 1, 0, flight)
    this.#aside += 1
    this.#close(group)
  }

  /** What was aside and may start, the last first; each is answered once. */
  takeReady(): readonly Flight[] {
    if (this.#ready.length === 0) return this.#ready
    const ready = this.#ready.toReversed()
    this.#ready = []
    return ready
  }

  /** What waits aside and is meant is no longer here. */
  letGo(isMeant: (flight: Flight) => boolean): Flight[] {
    const meant = this.#ready.filter(isMeant)
    this.#ready = this.#ready.filter((flight) => !isMeant(flight))
    for (const group of this.#closed) {
      const gone = group.aside.filter(isMeant)
      if (gone.length === 0) continue
      group.aside = group.aside.filter((flight) => !isMeant(flight))
      this.#aside -= gone.length
      meant.push(...gone)
    }
    return meant
  }

  /** A run of it is about to start, and counts. [X44] */
  reserve({ taken }: Flight): void {
    if (this.isLimited) this.#of(taken).reserved += 1
  }

  /** Whether a run that counts as about to start may. */
  isOpenTo({ taken }: Flight): boolean {
    const group = this.#groups.get(taken.group)
    if (!this.isLimited || group === undefined) return true
    return this.#opensAt({ ...group, reserved: Math.max(0, group.reserved - 1) }) <= this.#parts.mono()
  }

  /** It starts now, or does not. */
  release({ taken }: Flight): void {
    const group = this.#groups.get(taken.group)
    if (group === undefined) return
    group.reserved = Math.max(0, group.reserved - 1)
    this.#lookAt(group, this.#parts.mono())
  }

  started({ taken }: Flight): void {
    if (!this.isLimited) return
    const group = this.#of(taken)
    group.running += 1
    group.partition = taken.partition
    if (this.#limit.rate === null) return
    group.log ??= new SlidingLog(this.#limit.rate.perMs)
    group.log.add(this.#parts.mono())
    if (this.#limit.rate.spread === true)
      group.spaced = startedAt(group.spaced, this.#paceOf(this.#limit.rate))
    if (this.#closed.has(group)) this.#close(group)
  }

  ended({ taken }: Flight): void {
    if (this.#groups.size === 0) return
    const group = this.#groups.get(taken.group)
    if (group === undefined) return
    group.running = Math.max(0, group.running - 1)
    this.#lookAt(group, this.#parts.mono())
  }

  /** Lets go on what has room by now. */
  look(): void {
    const now = this.#parts.mono()
    this.#nextOpensAt = Infinity
    for (const group of this.#closed) this.#lookAt(group, now)
    if (now < this.#forgotAt + FORGET_EVERY_MS) return
    this.#forgotAt = now
    for (const group of this.#groups.values()) this.#lookAt(group, now)
  }

  /** Why runs of some group are held back; null: none is. */
  get held(): 'pool_full' | 'rate_limited' | null {
    const now = this.#parts.mono()
    for (const group of this.#closed) {
      const at = this.#opensAt(group)
      if (at > now) return at === Infinity ? 'pool_full' : 'rate_limited'
    }
    return null
  }

  /** When the first run of a lane was due that was passed over; Infinity: none was. */
  passedOver(lane: Lane): number {
    let first = Infinity
    for (const group of this.#closed) first = Math.min(first, group.passedOver.get(lane) ?? Infinity)
    return first
  }

  /** When the next group has room by time alone; Infinity: none does. */
  get opensAt(): number {
    return this.#nextOpensAt
  }

  /** Opens a group that has room, and forgets one of which nothing is to be known. */
  #lookAt(group: Group, now: number): void {
    if (this.#closed.has(group) && this.#opensAt(group) <= now) this.#open(group, now)
    if (this.#closed.has(group)) this.#close(group)
    const isIdle = group.running + group.reserved === 0 && !this.#closed.has(group)
    if (isIdle && (group.log === null || group.log.used(now) === 0)) this.#groups.delete(group.name)
  }

  #open(group: Group, now: number): void {
    const { concurrency, rate } = this.#limit
    const { reserved } = group
    const atOnce = (concurrency ?? Infinity) - group.running - reserved
    const inSpan = rate === null ? Infinity : rate.count - reserved - (group.log?.used(now) ?? 0)
    const spaced =
      rate?.spread === true ? roomAt(group.spaced, { ...this.#paceOf(rate), reserved }) : Infinity
    const inTime = Math.min(inSpan, spaced)
    const ready = group.aside.splice(0, Math.min(atOnce, inTime, group.aside.length))
    this.#aside -= ready.length
    this.#ready.push(...ready)
    if (group.aside.length * 2 < MOST_ASIDE) {
      for (const [lane, dueAt] of group.passedOver) this.#parts.lookBack(lane, dueAt)
    }
    if (group.aside.length === 0 && group.passedOver.size === 0) this.#closed.delete(group)
  }

  /** Now if it is past; Infinity: when a run of it ends. */
  #opensAt({ running, reserved, log, spaced, partition }: Counted): number {
    const { concurrency, rate } = this.#limit
    if (concurrency !== null && running + reserved >= concurrency) return Infinity
    if (rate === null) return 0
    const unknownUntil =
      Math.max(this.#heldSince.get(partition)?.at ?? -Infinity, this.#changedAt) + rate.perMs
    log?.used(this.#parts.mono())
    if (reserved >= rate.count) return Infinity
    const spacedUntil = rate.spread === true ? opensAt(spaced, { ...this.#paceOf(rate), reserved }) : 0
    return Math.max(unknownUntil, spacedUntil, log?.freeAt(rate.count - reserved) ?? 0)
  }

  #paceOf({ count, perMs }: Rate): { now: number; paceMs: number } {
    return { now: this.#parts.mono(), paceMs: perMs / count }
  }

  #of({ group: name, partition }: TakenRun): Group {
    const known = this.#groups.get(name)
    if (known !== undefined) return known
    const group = { name, ...nobody(partition), aside: [], passedOver: new Map<Lane, number>() }
    this.#groups.set(name, group)
    return group
  }
}

/** A group of which nothing is known to have started. */
function nobody(partition: number): Counted {
  return { running: 0, reserved: 0, log: null, spaced: null, partition }
}
