// Takes due runs of every lane of which something may be due, as many as can be started now or soon.
// Rules [X1], [X6] and [X7] of docs/spec/work.md.
import type { Clock } from '../clock.ts'
import type { Ownership } from '../roster/ownership.ts'
import type { StoreTime } from '../store-time.ts'
import type { Pulse } from '../store.ts'
import { unlessAborted } from '../unless-aborted.ts'
import type { Hold } from './hold.ts'
import { type LaneHold, forget, limitOf } from './lane-hold.ts'
import type { Entries, Taken } from './store.ts'

export interface TakerParts {
  pool: string
  entries: Pick<Entries, 'take'>
  ownership: Ownership
  clock: Clock
  time: StoreTime
  hold: Hold
  /** How many handlers the worker runs at once, at most. */
  concurrency: number
  /** How many handlers run right now. */
  running(): number
  /** How many runs are worth taking, by the limits of the pool. */
  room(): number
  /** Something was taken. */
  taken(): void
  /** Fires when nothing is to be taken any more. */
  stop: AbortSignal
}

/** The most runs that wait for a handler, in each lane. */
const MOST_AHEAD = 12_000
/** The most that one take is for: so the next one is under way while these are started. */
const MOST_AT_ONCE = 6000
/** The same in characters of their payloads, going by those of the last take; and of those that wait, and of the unsettled. */
const MOST_PAYLOAD = 16_777_216
/** The most runs that wait for the answer to their settle, beside those that run. */
const MOST_UNSETTLED = 18_000

const NONE: readonly string[] = []

export class Taker {
  readonly #parts: TakerParts
  /** How many handlers have ended since the last look: as many and more can be started before the next. */
  #endedSinceLook = 0
  /** How many could be started soon, as of the last look, and how many are taken ahead. */
  #soonBefore = 0
  #ahead = 0
  /** How long the payloads of the last take were on average. */
  #payload = 0
  #heardDueAt: number | null = null

  constructor(parts: TakerParts) {
    this.#parts = parts
  }

  /** A handler has ended. */
  ended(): void {
    this.#endedSinceLook += 1
  }

  /** When the first run of all lanes is due, as a pulse told that hid nothing; null: none told since a take. */
  get heardDueAt(): number | null {
    return this.#heardDueAt
  }

  /**
   * A pulse told when the first run is due that is not hidden by what is in flight; `isWhole`: nothing was when it was
   * sent. [X10]
   */
  notice({ now, nextDueAt }: Pick<Pulse, 'now' | 'nextDueAt'>, { isWhole }: { isWhole: boolean }): void {
    const { hold, pool } = this.#parts
    const dueAt = nextDueAt.get(pool) ?? Infinity
    const { size } = hold.inFlight
    if (dueAt > now) hold.wakeBy(dueAt)
    else if (size === 0) hold.lower(dueAt)
    if (size > 0) {
      hold.wakeToSweep(now)
      return
    }
    if (!isWhole) return
    this.#heardDueAt = dueAt
    // What was let go before it is gone: it was cancelled, put off, or another member's.
    const left = Math.min(...hold.lanes.map((lane) => lane.left.dueAt))
    if (left < dueAt) hold.lanes.forEach(forget)
  }

  /** When the next look is worth while, by the store's clock; Infinity: when somebody says so. */
  wakeAt(): number {
    return this.#parts.hold.wakeAt((hold) => this.#wants(hold) > 0)
  }

  /** Takes in every lane of which something may be due; true: more is due than was taken. */
  async look(): Promise<boolean> {
    const now = this.#parts.time.now()
    // The last look counts as well: what a take has just brought had no time to start before this one.
    const soon = this.#soon
    this.#ahead = Math.max(soon, this.#soonBefore, Math.floor(this.#ahead / 2))
    this.#soonBefore = soon
    const wanting = this.#parts.hold.lanes.filter(
      (hold) => hold.cursor.wakeAt <= now && this.#wants(hold) > 0,
    )
    if (wanting.length === 0) return false
    this.#endedSinceLook = 0
    // All are waited for, also if one fails: a lane has one take under way.
    const taken = await Promise.allSettled(wanting.map((hold) => this.#take(hold)))
    const failed = taken.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return taken.some((each) => each.status === 'fulfilled' && each.value)
  }

  /** How many can be started before the next look, going by those that have ended since the last. */
  get #soon(): number {
    return Math.min(2 * this.#endedSinceLook, MOST_AHEAD)
  }

  /** How many more runs of a lane can be started now, or soon. [X1] */
  #wants({ waiting }: LaneHold): number {
    const { concurrency } = this.#parts
    const most = Math.ceil(MOST_PAYLOAD / this.#payload)
    const ahead = Math.min(Math.max(this.#ahead, this.#soon), most)
    // One at least, also while all handlers are busy: a lane of which nothing waits would not have its turn. [X6]
    const free = Math.min(Math.max(1, concurrency - this.#parts.running() + ahead), this.#parts.room())
    const room = concurrency + Math.min(MOST_UNSETTLED, most) - this.#parts.hold.inFlight.size
    const wanted = Math.min(free - waiting.size, room)
    // Half of it at least: fewer are not worth a call, as long as others wait.
    if (waiting.size > 0 && wanted * 2 < free) return 0
    return Math.min(wanted, MOST_AT_ONCE, most)
  }

  #take(hold: LaneHold): Promise<boolean> {
    const { ownership, entries, clock, time, pool } = this.#parts
    return ownership.use(async (claim) => {
      if (claim.held.length === 0) return false
      const { inFlight } = this.#parts.hold
      const take = inFlight.beginTake()
      this.#heardDueAt = null
      const from = hold.cursor.begin(time.now(), hold.count)
      const wanted = this.#wants(hold)
      const limit = limitOf(hold, from, wanted)
      const partitions = claim.held.map(({ partition }) => partition)
      const sentAt = clock.now()
      try {
        // What is in flight comes first: where there is much of it, a cut answer may hold nothing else. [X7]
        const request = { partitions, lane: hold.lane, from, limit, mayCut: limit <= wanted * 1.25 }
        const call = entries.take(pool, request)
        // A stop does not wait for it, nor a hand-over: nothing of its answer would start.
        const taken = await unlessAborted(call, this.#parts.stop)
        time.hear(taken.now, sentAt)
        this.#weigh(taken)
        const admitted = this.#parts.hold.admit(hold, taken, { claim, from, limit })
        this.#parts.taken()
        return admitted > 0 && hold.isCut
      } catch (error) {
        hold.cursor.fail()
        throw error
      } finally {
        inFlight.endTake(take)
      }
    })
  }

  #weigh({ runs }: Taken): void {
    let all = 0
    for (const { payload, payloads = NONE } of runs) {
      all += payload?.length ?? 0
      for (const each of payloads) all += each.length
    }
    if (runs.length > 0) this.#payload = all / runs.length
  }
}
