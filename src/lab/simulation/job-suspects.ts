// Watches what one worker does with runs that may have ended a process: which are suspects after a take-over and are marked
// just before their start, which are alone, and which are given up. Rules [X43] to [X47] of docs/spec/work.md.
import type { Clock } from '../../clock.ts'
import type { Claim, Held, NewClaim, Raised } from '../../fence.ts'
import { LANES, type Lane, type TakenRun } from '../../pool/entry.ts'
import type { Settlement } from '../../pool/settle.ts'
import type { Mark as Marked, MarkAnswer } from '../../pool/store.ts'
import type { Mark } from './job-keys.ts'
import type { JobRules } from './jobs.ts'
import { type Made, turnOf } from './made.ts'
import type { RaceCounts } from './sometimes.ts'

/** With so many crashes a run is alone, and with so many it is given up. */
const ALONE = 2
const MOST = 3
/** A run that has not ended so long after its abort keeps others waiting no longer. */
const HEED_WITHIN_MS = 1000
/** So long marks gather before they are sent. */
const GATHER_MS = 3
/** A call that failed is made again by then. */
const LONGEST_PAUSE_MS = 5000

/** By the member's monotonic clock. */
export interface Standstill {
  from: number
  /** Infinity: it has not ended. */
  until: number
}

export interface JobSuspectsParts {
  clock: Clock
  rules: JobRules
  races: RaceCounts
  /** Handlers that run. */
  running: ReadonlySet<Made>
  /** Whether a partition may be another's: then runs of it may have been let go. */
  mayBeLost(held: Held): boolean
  /** The last time that this member stood still. */
  stood(): Standstill
}

/** How many suspects of one lane are left: at least, and at most, where it is not known what a worker kept in mind. */
interface Left {
  least: number
  most: number
  /** When the last of them started, by the monotonic clock. */
  overAt: number
}

const NONE: Left = { least: 0, most: 0, overAt: -Infinity }

interface Watched {
  owner: string
  epoch: number
  lanes: Map<Lane, Left>
}

/** A mark that was not answered yet. */
export interface Marking {
  taken: TakenRun
  lane: Lane
  /** The epoch that it is sent under. */
  epoch: number
  sentAt: number
  /** When it was decided at the earliest: a member that stands still sends it later. */
  since: number
}

export class JobSuspects {
  readonly #parts: JobSuspectsParts
  readonly #watched = new Map<number, Watched>()
  /** The number that this life has marked each turn with, and those of which no run has started since. */
  readonly #written = new Map<string, number>()
  readonly #fresh = new Map<string, { crashes: number; since: number; answeredAt: number }>()
  /** Since when runs were held back that have started. */
  readonly #heldSince = new WeakMap<Made, number>()
  readonly #underWay = new Map<string, Marking>()
  /** What was given up without a start, by turn and key. */
  readonly #buried = new Set<string>()
  /** The last run that was alone, and when it was aborted; and until when one was. */
  #alone: { made: Made; abortedAt: number } | null = null
  #aloneUntil = -Infinity
  #answeredAt = -Infinity
  #failedAt = -Infinity
  /** Since when marks are under way, one call after the other: what is to be marked may wait that long. */
  #since = -Infinity

  constructor(parts: JobSuspectsParts) {
    this.#parts = parts
  }

  /** Marks that were sent and have not been answered. [X47] */
  underWay(): Marking[] {
    return [...this.#underWay.values()]
  }

  /** Fences were raised, as this life was answered; answers what is wrong. [X43] */
  raised({ owner, held, concurrency }: NewClaim, answers: readonly Raised[]): string[] {
    for (const { partition, raised, suspects } of answers) {
      const epoch = held.find((each) => each.partition === partition)?.epoch
      if (!raised || epoch === undefined) continue
      const before = this.#watched.get(partition)
      const isSame = before?.owner === owner && before.epoch <= epoch && before.epoch + 1 >= epoch
      const lanes = LANES.map((lane) => {
        const { least, most, overAt } = before?.lanes.get(lane) ?? NONE
        const left = { least: Math.max(2 * suspects, isSame ? least : 0), most: Math.max(2 * suspects, most) }
        return [lane, { ...left, overAt }] as const
      })
      this.#watched.set(partition, { owner, epoch, lanes: new Map(lanes) })
    }
    const { rules } = this.#parts
    if (held.length === 0 || concurrency === rules.concurrency) return []
    return [`[X43] ${owner} raises fences with ${concurrency}, and may have ${rules.concurrency} under way`]
  }

  /** Runs are to be marked, each with what takes answered for its turn; answers what is wrong. */
  marking(marks: readonly { mark: Marked; taken: readonly Mark[] }[]): string[] {
    return marks.flatMap(({ mark, taken }) => {
      const told = `turn ${mark.turn} of ${mark.key} with ${mark.crashes}`
      const [first] = taken
      if (first === undefined) return [`[X44] marks ${told}, which it has not taken`]
      const read = taken.map((each) => each.taken.crashes)
      const wrong = read.includes(mark.crashes - 1)
        ? []
        : [`[X44] marks ${told}, and has read ${read.join(', ')}`]
      const others = this.underWay().filter(({ taken: { turn } }) => turn !== mark.turn)
      if (mark.crashes >= ALONE && (this.#isBusy() || others.some(({ since }) => this.#isRecent(since))))
        wrong.push(`[X45] marks ${told}, and others are under way`)
      const isTheirs = (each: Marking): boolean =>
        each.taken.partition === first.taken.partition && each.lane === first.lane
      const { most } = this.#left(first)
      if (others.filter(isTheirs).length >= most) wrong.push(`[X44] marks ${told}, which is no suspect`)
      return wrong
    })
  }

  /** One of them is sent. */
  sent({ taken, lane }: Mark, { held }: Claim): void {
    const epoch = held.find(({ partition }) => partition === taken.partition)?.epoch ?? 0
    const sentAt = this.#parts.clock.mono()
    const isNext = this.#answeredAt === sentAt || this.#isSoonAgain(sentAt)
    const { from, until } = this.#parts.stood()
    const since = sentAt <= until + GATHER_MS ? Math.min(from, sentAt) : sentAt
    if (this.#underWay.size === 0 && !isNext) this.#since = since
    this.#underWay.set(turnOf(taken), { taken, lane, epoch, sentAt, since })
  }

  /** The call has failed: it is made again, if the run may still start. */
  failed(marks: readonly (Mark | undefined)[]): void {
    this.#failedAt = this.#parts.clock.mono()
    for (const mark of marks) if (mark !== undefined) this.#underWay.delete(turnOf(mark.taken))
  }

  /** One of them was answered. */
  answered({ taken }: Mark, crashes: number, result: MarkAnswer['result']): void {
    const turn = turnOf(taken)
    const now = this.#parts.clock.mono()
    this.#answeredAt = now
    this.#underWay.delete(turn)
    if (result !== 'marked') return
    this.#parts.races['a suspect was marked'] += 1
    this.#written.set(turn, crashes)
    this.#fresh.set(turn, { crashes, since: this.#since, answeredAt: now })
  }

  /** A run starts; answers what is wrong with that. */
  start(made: Made, mark: Mark): string[] {
    const { taken } = mark
    const { clock, races, rules, running } = this.#parts
    const fresh = this.#fresh.get(turnOf(taken))
    this.#fresh.delete(turnOf(taken))
    // It starts when its mark is answered; else it was let go, taken again with its mark, and is known.
    const isKnown = this.#written.get(turnOf(taken)) === taken.crashes
    const marked = fresh?.answeredAt === clock.mono() && !isKnown ? fresh : undefined
    const left = this.#left(mark)
    const wrong: string[] = []
    // As many as handlers are free may be about to be marked: they came before it, and start after it.
    const mayFollow = Math.max(0, rules.concurrency - running.size - 1)
    if (marked === undefined && !isKnown && left.least > mayFollow)
      wrong.push(`[X44] and is among the first after a take-over, and was not marked`)
    if (marked !== undefined) {
      this.#heldSince.set(made, marked.since)
      left.least = Math.max(0, left.least - 1)
      left.most = Math.max(0, left.most - 1)
      if (left.most === 0) left.overAt = clock.mono()
    }
    const crashes = marked?.crashes ?? taken.crashes
    if (crashes >= MOST) wrong.push(`[X46] and has ${crashes} crashes`)
    if (this.#isAlone()) wrong.push(`[X45] and turn ${this.#alone?.made.taken.turn} is alone`)
    if (crashes < ALONE) return wrong
    races['a run was alone on its member'] += 1
    if (this.#isBusy()) wrong.push(`[X45] and is not alone with ${crashes} crashes`)
    const alone = { made, abortedAt: Infinity }
    made.context.signal.addEventListener('abort', () => (alone.abortedAt = clock.mono()))
    this.#alone = alone
    return wrong
  }

  /** A run is settled that was not started; answers what is wrong with that. [X46] */
  buries({ key, turn, outcome, seen }: Settlement, taken: readonly Mark[]): string | null {
    if (outcome.kind !== 'dead' || outcome.reason !== 'crashed')
      return '[X15] which it has not run to its end'
    // It is sent again until it is answered.
    if (this.#buried.has(`${turn} ${key}`)) return null
    this.#buried.add(`${turn} ${key}`)
    this.#parts.races['a run was given up for its crashes'] += 1
    const isOver = taken.some((mark) => {
      const { crashes } = mark.taken
      // What is given up leaves its place to others, which may start before it is settled.
      const { most, overAt } = this.#left(mark)
      const isSuspect = most > 0 || overAt >= mark.answeredAt
      return mark.taken.seen === seen && (crashes >= MOST || (crashes + 1 >= MOST && isSuspect))
    })
    return isOver ? null : '[X46] which has not been in so many crashes'
  }

  /** Whether runs may wait though handlers are free: one is being marked, or is alone, or `may` be about to be. */
  holdsBack(unstarted: Iterable<Mark>): boolean {
    const now = this.#parts.clock.mono()
    const isMarking = this.#underWay.size > 0 || this.#answeredAt === now || this.#isSoonAgain(now)
    // In the very moment in which it is over the others have not begun.
    if (isMarking || this.#isAlone() || this.#aloneUntil === now) return true
    for (const { taken } of unstarted) if (taken.crashes + 1 >= ALONE) return true
    return false
  }

  /** Whether a call has failed and may be made again. */
  #isSoonAgain(now: number): boolean {
    return this.#failedAt > this.#answeredAt && now < this.#failedAt + LONGEST_PAUSE_MS
  }

  #left({ taken: { partition }, lane }: Mark): Left {
    return this.#watched.get(partition)?.lanes.get(lane) ?? { ...NONE }
  }

  /** Until it is settled or let go, or does not heed its abort. */
  #isAlone(): boolean {
    if (this.#alone === null) return false
    const { made, abortedAt } = this.#alone
    const isIgnored = Math.min(made.endedAt, this.#parts.clock.mono()) >= abortedAt + HEED_WITHIN_MS
    const isOver =
      made.overAt < Infinity || (made.ending !== null && this.#parts.mayBeLost(made.context.fence))
    if (!isIgnored && !isOver) return true
    this.#aloneUntil = Math.min(made.overAt, this.#parts.clock.mono())
    this.#alone = null
    return false
  }

  /** Whether handlers run that a run which is to be alone would wait for. */
  #isBusy(): boolean {
    for (const made of this.#parts.running)
      if (this.#isRecent(this.#heldSince.get(made) ?? made.startedAt)) return true
    return false
  }

  #isRecent(at: number): boolean {
    return this.#parts.clock.mono() < at + this.#parts.rules.drainWithinMs
  }
}
