// What a worker has taken and not yet settled: admits what takes answer, keeps what waits for a handler in the order of
// its lane, and tells the cursors where to look again. Rules [X1] to [X8] of docs/spec/work.md.
import type { Claim } from '../fence.ts'
import type { Ownership } from '../roster/ownership.ts'
import { Cursor } from './cursor.ts'
import { LANES, type Lane } from './entry.ts'
import { InFlight } from './in-flight.ts'
import { Turns } from './lanes.ts'
import type { Flight } from './run.ts'
import type { GroupLimits } from './group-limits.ts'
import type { SettleAnswer, Taken } from './store.ts'

/** A lane of one worker. */
export interface LaneHold {
  readonly lane: Lane
  readonly cursor: Cursor
  /** Admitted, and not started yet. */
  waiting: Flight[]
  /** How many of its runs are in flight, those that wait included, by their due times. */
  readonly inFlight: Map<number, number>
  /** How many the last take answered that could not be admitted. */
  passedOver: number
}

/** How many of a lane's runs a take that reads from there may answer, though none of them can be admitted. [X7] */
export function inTheWay({ inFlight, passedOver }: LaneHold, from: number): number {
  let count = passedOver
  for (const [dueAt, runs] of inFlight) if (dueAt >= from) count += runs
  return count
}

/** What a take was asked, and by which right. */
export interface Asked {
  claim: Claim
  from: number
  limit: number
}

export class Hold {
  readonly lanes: readonly LaneHold[] = LANES.map((lane) => {
    return { lane, cursor: new Cursor(), waiting: [], inFlight: new Map(), passedOver: 0 }
  })
  readonly inFlight = new InFlight()
  readonly #ownership: Ownership
  readonly #groups: GroupLimits
  readonly #turns = new Turns()
  #waiting = 0
  /** The epochs of the partitions that were held at the last look. */
  #epochs = new Map<number, number>()
  #mayTake = false

  constructor(ownership: Ownership, groups: GroupLimits) {
    this.#ownership = ownership
    this.#groups = groups
  }

  /** Takes in what a take answered; answers how many runs are new. */
  admit(hold: LaneHold, { now, runs, nextDueAt }: Taken, { claim, from, limit }: Asked): number {
    const fences = new Map(
      claim.held
        .filter((fence) => this.#ownership.mayStart(fence))
        .map((fence) => [fence.partition, fence] as const),
    )
    const isCut = runs.length >= limit
    const cutAt = isCut ? runs.reduce((last, { dueAt }) => Math.max(last, dueAt), -Infinity) : null
    this.#groups.beginRead(hold.lane, from, cutAt ?? Infinity)
    let [admitted, passedOver] = [0, 0]
    for (const taken of runs) {
      const fence = fences.get(taken.partition)
      // Lost, or in doubt: if it is this member's again, it is looked for again. [X4]
      if (fence === undefined) {
        hold.cursor.lower(taken.dueAt)
        continue
      }
      const admission = this.inFlight.admit(taken, taken.dueAt)
      if (admission === 'busy') passedOver += 1
      if (admission !== 'free') continue
      if (!this.#groups.admits(taken, hold.lane)) {
        passedOver += 1
        continue
      }
      this.inFlight.add(taken)
      hold.inFlight.set(taken.dueAt, (hold.inFlight.get(taken.dueAt) ?? 0) + 1)
      this.#ownership.beginRun(taken.partition)
      const latenessMs = now - taken.dueAt
      const { owner } = claim
      hold.waiting.push({
        taken,
        lane: hold.lane,
        owner,
        fence,
        latenessMs,
        context: null,
        isAbandoned: false,
      })
      admitted += 1
    }
    this.#waiting += admitted
    // Twice as many where nothing else was found: so few takes reach what is behind them.
    hold.passedOver = isCut && admitted === 0 ? 2 * passedOver : passedOver
    hold.cursor.end({ now, cutAt, nextDueAt })
    this.#groups.look()
    return admitted
  }

  /** The next run to start, by the weights of the lanes; null: none waits. What may not start is let go. */
  next(): Flight | null {
    for (const flight of this.#groups.takeReady().toReversed()) {
      this.of(flight.lane).waiting.unshift(flight)
      this.#waiting += 1
    }
    while (this.#waiting > 0) {
      const lane = this.#turns.next((each) => this.of(each).waiting.length > 0)
      const flight = lane === null ? undefined : this.of(lane).waiting.shift()
      if (flight === undefined) return null
      this.#waiting -= 1
      if (!this.#ownership.mayStart(flight.fence)) this.letGo(flight)
      else if (this.#groups.isOpen(flight.taken)) return flight
      else this.#groups.park(flight)
    }
    return null
  }

  of(lane: Lane): LaneHold {
    return this.lanes[LANES.indexOf(lane)] as LaneHold
  }

  /** The store has answered the settle of a run whose handler has ended. */
  settled(flight: Flight, { nextDueAt }: SettleAnswer): void {
    this.#lowerAfter(flight, this.inFlight.settle(flight.taken), nextDueAt)
  }

  /** A run is due as before, and its handler has ended or never began. */
  letGo(flight: Flight): void {
    this.#lowerAfter(flight, this.inFlight.release(flight.taken), flight.taken.dueAt)
  }

  #lowerAfter({ taken, lane }: Flight, passedOver: number | null, dueAt: number | null): void {
    const hold = this.of(lane)
    const rest = (hold.inFlight.get(taken.dueAt) ?? 0) - 1
    if (rest > 0) hold.inFlight.set(taken.dueAt, rest)
    else hold.inFlight.delete(taken.dueAt)
    this.#ownership.endRun(taken.partition)
    if (dueAt !== null) hold.cursor.lower(dueAt)
    // What it was in the way of may be of another lane.
    if (passedOver !== null) this.lower(passedOver)
  }

  /** Something is due then, of a lane that is not known. */
  lower(dueAt: number): void {
    for (const { cursor } of this.lanes) cursor.lower(dueAt)
  }

  /** A look is worth while from then on, in every lane. */
  wakeBy(at: number): void {
    for (const { cursor } of this.lanes) cursor.wakeBy(at)
  }

  /** What waits for a handler is let go, if it may not start any more; at a stop all of it. */
  letGoWaiting(isMeant: (flight: Flight) => boolean = () => true): void {
    for (const flight of this.#groups.letGo(isMeant)) this.letGo(flight)
    for (const hold of this.lanes) {
      const meant = hold.waiting.filter(isMeant)
      if (meant.length === 0) continue
      hold.waiting = hold.waiting.filter((flight) => !isMeant(flight))
      this.#waiting -= meant.length
      for (const flight of meant) this.letGo(flight)
    }
  }

  /** Follows what is held: of partitions that are new everything is read. [X9] */
  follow(): void {
    const epochs = new Map(this.#ownership.holding().map(({ partition, epoch }) => [partition, epoch]))
    const isNew = [...epochs].some(([partition, epoch]) => this.#epochs.get(partition) !== epoch)
    this.#epochs = epochs
    this.#groups.follow(this.#ownership.holding())
    if (isNew) for (const { cursor } of this.lanes) cursor.widen()
    this.#mayTake = this.#ownership.claim().held.length > 0
    this.letGoWaiting(({ fence }) => !this.#ownership.mayStart(fence))
  }

  /** Whether something waits for a handler, or may be due at this time of the store. */
  isHungry(now: number): boolean {
    return this.#waiting > 0 || (this.#mayTake && this.lanes.some(({ cursor }) => cursor.wakeAt <= now))
  }

  /** When the next look is worth while in one of these lanes, by the store's clock; Infinity: when somebody says so. */
  wakeAt(isMeant: (hold: LaneHold) => boolean): number {
    if (!this.#mayTake || this.#ownership.trustedForMs <= 0) return Infinity
    let first = Infinity
    for (const hold of this.lanes) {
      if (hold.cursor.wakeAt < first && isMeant(hold)) first = hold.cursor.wakeAt
    }
    return first
  }
}
