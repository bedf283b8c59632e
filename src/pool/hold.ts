// What a worker has taken and not yet settled: admits what takes answer, keeps what waits for a handler in the order of
// its lane, and tells the cursors where to look again. Rules [X1] to [X8], [X20] and [X21] of docs/spec/work.md.
import type { Claim } from '../fence.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { StoreTime } from '../store-time.ts'
import { LANES, type Lane } from './entry.ts'
import { type Freed, InFlight } from './in-flight.ts'
import { type LaneHold, MOST_TAKEN, createLanes, cutOf, leave, read, widen } from './lane-hold.ts'
import { Turns } from './lanes.ts'
import { type Flight, endsRow, flightOf, rowSince } from './run.ts'
import type { GroupLimits } from './group-limits.ts'
import type { Steps } from './steps.ts'
import type { SettleAnswer, Taken } from './store.ts'

/** What a take was asked, and by which right. */
export interface Asked {
  claim: Claim
  from: number
  limit: number
}

export interface HoldParts {
  ownership: Ownership
  time: StoreTime
  steps: Steps
  groups: GroupLimits
}

export class Hold {
  readonly #byLane = createLanes()
  readonly lanes: readonly LaneHold[] = LANES.map((lane) => this.#byLane[lane])
  readonly inFlight = new InFlight<Flight>()
  readonly #ownership: Ownership
  readonly #time: StoreTime
  readonly #steps: Steps
  readonly #groups: GroupLimits
  readonly #turns = new Turns()
  #waiting = 0
  /** The epochs of the partitions that were held at the last look. */
  #epochs = new Map<number, number>()
  #mayTake = false

  constructor({ ownership, time, steps, groups }: HoldParts) {
    this.#ownership = ownership
    this.#time = time
    this.#steps = steps
    this.#groups = groups
  }

  /** Whether there are partitions to take from, that can be trusted. */
  get mayTake(): boolean {
    return this.#mayTake && this.#ownership.trustedForMs > 0
  }

  holds(partition: number): boolean {
    return this.mayTake && this.#epochs.has(partition)
  }

  /** Takes in what a take answered; answers how many runs are new. */
  admit(hold: LaneHold, answer: Taken, { claim, from, limit }: Asked): number {
    const { now, runs, nextDueAt, isPart = false } = answer
    const fences = new Map(
      claim.held
        .filter((fence) => this.#ownership.mayStart(fence))
        .map((fence) => [fence.partition, fence] as const),
    )
    const cutAt = cutOf(answer, limit)
    this.#groups.beginRead(hold.lane, from, cutAt ?? Infinity)
    let [admitted, busy, passedOver] = [0, 0, 0]
    const takenAt = this.#steps.now()
    for (const taken of runs) {
      const fence = fences.get(taken.partition)
      // Lost, or in doubt: if it is this member's again, it is looked for again. [X4]
      if (fence === undefined) {
        hold.cursor.lower(taken.dueAt)
        continue
      }
      const admission = this.inFlight.admit(taken)
      if (admission === 'here') continue
      const flight = flightOf(taken, { lane: hold.lane, owner: claim.owner, fence, takenAt, now })
      if (admission === 'busy') {
        busy += 1
        passedOver += this.#putBehind(flight)
        continue
      }
      if (!this.#groups.admits(taken, hold.lane)) {
        busy += 1
        passedOver += 1
        continue
      }
      this.inFlight.add(flight)
      this.#count(flight, 1)
      this.#ownership.beginRun(fence)
      this.#steps.taken(flight, now)
      hold.waiting.push(flight)
      admitted += 1
    }
    this.#waiting += admitted
    read(hold, from, cutAt)
    const isFruitless = hold.isCut && admitted === 0
    // Twice as many where nothing else was found: so few takes reach what is behind them.
    hold.passedOver = isFruitless ? 2 * busy : passedOver
    // More cannot be read at once: what is due at that very time is looked for again when those in its way have ended.
    const passes = isFruitless && runs.length >= MOST_TAKEN ? 1 : 0
    hold.cursor.end({ now, cutAt: cutAt === null ? null : cutAt + passes, nextDueAt, isPart })
    hold.isCut ||= hold.cursor.isBehind
    this.#groups.look()
    return admitted
  }

  /** Answers 1 if the run was passed over, 0 if it waits behind another. */
  #putBehind(flight: Flight): 0 | 1 {
    const out = this.inFlight.putBehind(flight)
    if (out === flight) return 1
    this.#count(flight, 1)
    if (out !== null) this.#count(out, -1)
    return 0
  }

  #count({ lane, taken: { dueAt } }: Flight, by: 1 | -1): void {
    const hold = this.of(lane)
    const { inFlight } = hold
    hold.count += by
    const count = (inFlight.get(dueAt) ?? 0) + by
    if (count > 0) inFlight.set(dueAt, count)
    else inFlight.delete(dueAt)
  }

  /** The next run to start, by the weights of the lanes; null: none waits. What may not start is let go. */
  next(): Flight | null {
    for (const flight of this.#groups.takeReady()) {
      this.of(flight.lane).waiting.unshift(flight)
      this.#waiting += 1
    }
    while (this.#waiting > 0) {
      const lane = this.#turns.next(this.#isWaiting)
      const flight = lane === null ? undefined : this.of(lane).waiting.shift()
      if (flight === undefined) return null
      this.#waiting -= 1
      if (!this.#ownership.mayStart(flight.fence)) {
        this.letGo(flight)
        continue
      }
      if (!this.#groups.isOpen(flight.taken)) {
        this.#groups.park(flight)
        continue
      }
      return flight
    }
    return null
  }

  readonly #isWaiting = (lane: Lane): boolean => this.of(lane).waiting.size > 0

  of(lane: Lane): LaneHold {
    return this.#byLane[lane]
  }

  /** The store has answered the settle of a run whose handler has ended. */
  settled(flight: Flight, { nextDueAt }: SettleAnswer): void {
    if (flight.isAbandoned) return
    if (nextDueAt !== null) this.of(flight.lane).cursor.lower(nextDueAt)
    this.#ended(flight, this.inFlight.settle(flight.taken))
  }

  /** A run is due as before, and its handler has ended or never began. Those behind it are due later, and wait for it. */
  letGo(flight: Flight): void {
    if (flight.isAbandoned) return
    const { key, dueAt } = flight.taken
    if (flight.context?.why === 'cancel') {
      this.#ended(flight, this.inFlight.settle(flight.taken))
      return
    }
    this.#drop(() => true, key)
    leave(this.of(flight.lane), dueAt)
    this.#ended(flight, this.inFlight.release(key))
  }

  #ended(flight: Flight, { next, passedOver }: Freed<Flight>): void {
    this.#count(flight, -1)
    this.#ownership.endRun(flight.fence)
    // What it was in the way of may be of another lane.
    if (passedOver !== null) this.lower(passedOver)
    if (next !== null) this.#follows(next, flight)
  }

  /** The next run of a key that was in flight: at once, unless it was the turn of its key for long enough. [X21] */
  #follows(next: Flight, before: Flight): void {
    const { fence, taken } = next
    if (!this.#ownership.mayStart(fence)) {
      this.of(next.lane).cursor.lower(taken.dueAt)
      this.#count(next, -1)
      const { next: other, passedOver } = this.inFlight.release(taken.key)
      if (passedOver !== null) this.lower(passedOver)
      if (other !== null) this.#follows(other, before)
      return
    }
    this.#ownership.beginRun(fence)
    const now = this.#time.now()
    next.latenessMs = now - taken.dueAt
    this.#steps.follows(next, now)
    const { waiting } = this.of(next.lane)
    this.#waiting += 1
    if (endsRow(before, next.takenAt)) {
      waiting.push(next)
      return
    }
    next.inARow = before.inARow + 1
    next.rowSince = rowSince(before)
    waiting.unshift(next)
  }

  /** The turns of these runs of a key are gone: drops those that wait, and answers the one that does not any more. [X24] */
  cancel(key: string, meant: ReadonlySet<Flight>): Flight | null {
    this.#drop((flight) => meant.has(flight), key)
    const [flying] = this.inFlight.ofKey(key)
    if (flying === undefined || !meant.has(flying)) return null
    if (flying.context !== null) return flying
    if (this.#groups.letGo((flight) => flight === flying).length === 0) {
      const waiting = this.of(flying.lane).waiting.remove((flight) => flight === flying)
      // It is held back until its handler may be called.
      if (waiting.length === 0) return flying
      this.#waiting -= 1
    }
    this.#ended(flying, this.inFlight.settle(flying.taken))
    // Another of its group may have its place: none of the group need be under way, whose end would tell so.
    this.#groups.look()
    return null
  }

  /** Drops what waits behind others; it is looked for again when these have ended. */
  #drop(isMeant: (flight: Flight) => boolean, key?: string): void {
    for (const flight of this.inFlight.drop(isMeant, key)) this.#count(flight, -1)
  }

  /** Gives up what is in flight, whatever becomes of it: no hand-over waits for it. [X17] */
  abandon(): void {
    for (const flight of this.inFlight.items()) {
      flight.isAbandoned = true
      this.#ownership.endRun(flight.fence)
    }
  }

  /** Something is due then, of a lane that is not known. */
  lower(dueAt: number): void {
    for (const { cursor } of this.lanes) cursor.lower(dueAt)
  }

  /** A look is worth while from then on, in every lane. */
  wakeBy(at: number): void {
    for (const { cursor } of this.lanes) cursor.wakeBy(at)
  }

  /** What is due and hidden by what is in flight is looked for by sweeps: a look is worth while where one is to be made. */
  wakeToSweep(now: number): void {
    for (const { cursor, count } of this.lanes) if (cursor.sweeps(now, count)) cursor.wakeBy(now)
  }

  /** What waits for a handler is let go, if it may not start any more; at a stop all of it. */
  letGoWaiting(isMeant: (flight: Flight) => boolean = () => true): void {
    for (const flight of this.#groups.letGo(isMeant)) this.letGo(flight)
    for (const hold of this.lanes) {
      const meant = hold.waiting.remove(isMeant)
      this.#waiting -= meant.length
      for (const flight of meant) this.letGo(flight)
    }
    this.#drop(isMeant)
  }

  /** Follows what is held: of partitions that are new everything is read. [X9] */
  follow(): void {
    const epochs = new Map(this.#ownership.holding().map(({ partition, epoch }) => [partition, epoch]))
    const isNew = [...epochs].some(([partition, epoch]) => this.#epochs.get(partition) !== epoch)
    this.#epochs = epochs
    this.#groups.follow(this.#ownership.holding())
    if (isNew) for (const hold of this.lanes) widen(hold)
    this.#mayTake = this.#ownership.claim().held.length > 0
    this.letGoWaiting(({ fence }) => !this.#ownership.mayStart(fence))
  }

  /** Whether something waits for a handler, or may be due at this time of the store. */
  isHungry(now: number): boolean {
    return this.#waiting > 0 || (this.#mayTake && this.lanes.some(({ cursor }) => cursor.wakeAt <= now))
  }

  /** When the next look is worth while in one of these lanes, by the store's clock; Infinity: when somebody says so. */
  wakeAt(isMeant: (hold: LaneHold) => boolean): number {
    if (!this.mayTake) return Infinity
    let first = Infinity
    for (const hold of this.lanes) {
      if (hold.cursor.wakeAt < first && isMeant(hold)) first = hold.cursor.wakeAt
    }
    return first
  }
}
