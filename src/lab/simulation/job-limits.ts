// Watches pauses and limits over all members together, by the clock outside: what starts although the pool is paused, how
// many runs are under way at once, and how many start in a span. A member goes by a version of what steers the pool that it
// must know or by a later one, so the widest of these counts. Rules [L12] to [L21] of docs/spec/limits.md.
import type { Control, Limit } from '../../pool/control.ts'
import type { TakenRun } from '../../pool/entry.ts'
import type { Controlled } from '../../pool/store.ts'
import type { Clock } from '../../clock.ts'
import { type Made, turnOf, whyOf } from './made.ts'
import type { RaceCounts } from './sometimes.ts'
import { type Scope, SteerHistory } from './steer-history.ts'

/** A member, as far as limits go. */
export interface Limited {
  readonly name: string
  /** Since when it goes on after it stood still, by the clock outside; Infinity: it stands still. */
  awakeSince(): number
  /** Whether it may still believe that its partitions are its own. */
  isTrusted(): boolean
  /** Whether it has asked to be taken off the roster: then its share is free. [L20] */
  hasLeft(): boolean
  /** Whether it has met that the store went back: until then it goes by what is gone. [G6] */
  isInGeneration(generation: string): boolean
}

/** A run that was started, or is about to be: it is being marked. */
interface Counted {
  member: Limited
  taken: TakenRun
  /** The version that its member must have known then. */
  known: number
  /** By the clock outside, and by the store's. */
  at: number
  storeAt: number
  /** Null: it is being marked. */
  made: Made | null
}

export interface JobLimitsParts {
  clock: Clock
  storeClock: Clock
  races: RaceCounts
  /** The epoch at which the fence of a partition stands. */
  epochOf(partition: number): number
  say(violation: string): void
}

const SCOPES = ['group', 'pool'] as const
/** The longest span of a rate that is drawn. */
const LONGEST_SPAN_MS = 10_000
/** By then a member whose clock was set has heard the store's time again. */
const SET_CLOCK_MS = 5000

export class JobLimits {
  readonly history: SteerHistory
  readonly #parts: JobLimitsParts
  readonly #running = new Set<Counted>()
  readonly #marking = new Map<string, Counted>()
  /** What members knew when they decided on marks whose call has failed: it is made again, whatever was written since. [X47] */
  readonly #failed = new Map<string, number>()
  #starts: Counted[] = []
  /** When the clock of a member was last set. */
  clockSetAt = -Infinity
  /** The store's generation; null: it never went back. */
  #generation: string | null = null
  /** How many takes are under way. */
  takes = 0

  constructor(parts: JobLimitsParts) {
    this.#parts = parts
    this.history = new SteerHistory((before, after) => this.#written(before, after))
  }

  /** The store went back: what is under way is given up as soon as its member meets that. [G6] */
  wentBack(generation: string, kept: Pick<Controlled, 'version' | 'control'>): void {
    this.#generation = generation
    this.#running.clear()
    this.#marking.clear()
    this.#failed.clear()
    this.#starts = []
    this.history.wentBack(kept)
  }

  #isOfBefore(member: Limited): boolean {
    return this.#generation !== null && !member.isInGeneration(this.#generation)
  }

  #written(before: Control, after: Control): void {
    const { races } = this.#parts
    const isLimited = JSON.stringify(before.limits) !== JSON.stringify(after.limits)
    if (isLimited && this.#underWayAnywhere()) races['a limit was changed while runs were under way'] += 1
    if (before.paused === null && after.paused !== null && this.takes > 0)
      races['a pool was paused while a take was under way'] += 1
  }

  #underWayAnywhere(): boolean {
    return [...this.#running].some(({ made }) => made?.life.isDead === false)
  }

  /** A member has died. */
  died(member: string | null): void {
    const isLimited = !isNone(this.history.current.limits.pool)
    const share = this.history.current.shares.find((each) => each.member === member && each.endsAt === null)
    if (isLimited && share !== undefined && share.concurrency.has + share.rate.has > 0)
      this.#parts.races['a member died that had a share of a limit'] += 1
  }

  /** Whether the pool is paused by all that a member may know, whose idea of the store's time may be so wrong. */
  isPaused(known: number, slackMs: number): boolean {
    const now = this.#parts.storeClock.now()
    return this.history.every(
      known,
      ({ paused }) => paused !== null && (paused.until === null || paused.until > now + slackMs),
    )
  }

  /** Whether something may hold a run back, by what a member may know. */
  mayHoldBack(known: number | null): boolean {
    const isFree = ({ paused, limits: { group, pool } }: Control): boolean =>
      paused === null && isNone(group) && isNone(pool)
    return known === null || !this.history.every(known, isFree)
  }

  started(made: Made, member: Limited, { known, slackMs }: { known: number | null; slackMs: number }): void {
    const { races, storeClock } = this.#parts
    if (this.#isOfBefore(member)) return
    if (known === null) {
      this.#say(member, made.taken, 'starts', '[L12] and has not read what steers the pool')
      return
    }
    if (this.isPaused(known, slackMs))
      this.#say(member, made.taken, 'starts', '[L12] and has heard that the pool is paused')
    else if (this.isPaused(this.history.last, 0))
      races['a run started before its member heard of a pause'] += 1
    const { paused } = this.history.current
    if (paused !== null && (paused.until ?? Infinity) <= storeClock.now())
      races['a pause was over by itself'] += 1
    const counted = this.#count(made.taken, member, known, made)
    this.#running.add(counted)
    this.#forget()
    this.#starts.push(counted)
    this.#judge(counted)
  }

  ended(made: Made): void {
    for (const counted of this.#running) if (counted.made === made) this.#running.delete(counted)
  }

  /** A run is about to be marked: it counts against every limit. [X44] */
  marks(taken: TakenRun, member: Limited, known: number | null): void {
    const name = `${member.name} ${turnOf(taken)}`
    if (this.#marking.has(name) || known === null || this.#isOfBefore(member)) return
    const counted = this.#count(taken, member, Math.min(known, this.#failed.get(name) ?? Infinity), null)
    this.#marking.set(name, counted)
    this.#judge(counted)
  }

  /** It was marked, or is not going to be. */
  marked(taken: TakenRun, { name }: Limited): void {
    this.#marking.delete(`${name} ${turnOf(taken)}`)
    this.#failed.delete(`${name} ${turnOf(taken)}`)
  }

  /** The call has failed: it may be made again. */
  markFailed(taken: TakenRun, member: Limited): void {
    const name = `${member.name} ${turnOf(taken)}`
    const known = this.#marking.get(name)?.known
    this.marked(taken, member)
    if (known !== undefined) this.#failed.set(name, known)
  }

  #count(taken: TakenRun, member: Limited, known: number, made: Made | null): Counted {
    const { clock, storeClock } = this.#parts
    return { member, taken, known, made, at: clock.mono(), storeAt: storeClock.now() }
  }

  #judge(counted: Counted): void {
    for (const scope of SCOPES) {
      this.#judgeAtOnce(counted, scope)
      this.#judgeRate(counted, scope)
      this.#judgeSpacing(counted, scope)
    }
  }

  /** How far a start is from the one before, of its group, or of its member: a share is no more than the limit. [L22] */
  #judgeSpacing(counted: Counted, scope: Scope): void {
    const { history } = this
    const since = history.spreadSince(scope)
    if (since === null || counted.known < since || counted.made === null) return
    const isBefore = (each: Counted): boolean =>
      each !== counted &&
      each.known >= since &&
      (scope === 'group' ? each.taken.group === counted.taken.group : each.member === counted.member)
    const before = this.#starts.findLast(isBefore)
    if (before === undefined) return
    const perMs = history.current.limits[scope].rate?.perMs ?? 0
    const most = history.most(counted.known, ({ limits }) => limits[scope].rate?.count ?? null)
    const apartMs = counted.at - before.at
    this.#parts.races['a start followed another under a rate that is spread'] += 1
    // A member's clock counts fractions of a millisecond, which sums do not keep.
    if (apartMs >= perMs / most - 0.01) return
    this.#tell(
      counted,
      `[L22] and starts ${apartMs} ms after another of ${of(counted, scope)}, of ${perMs / most}`,
    )
  }

  /** How many are under way at once. [L13] [L17] */
  #judgeAtOnce(counted: Counted, scope: Scope): void {
    const { history } = this
    const sizeOf = ({ limits }: Control): number | null => limits[scope].concurrency
    if (sizeOf(history.current) === null) return
    const others = this.#underWay(counted, scope)
    // Of a group its owner alone decides; of the pool those go by what they knew that started what is under way. [L21]
    const since = scope === 'group' ? others.filter(({ made }) => made === null) : others
    const most = history.most(Math.min(counted.known, ...since.map(({ known }) => known)), sizeOf)
    this.#met(scope, others.length === most)
    if (others.length <= most) return
    const rule = counted.made === null ? 'X44' : scope === 'group' ? 'L13' : 'L17'
    this.#tell(counted, `[${rule}] and ${others.length} ${of(counted, scope)} are under way, of ${most}`)
  }

  /** What is under way, or about to be. Runs that outlive their ownership count on their own member only. */
  #underWay({ member, taken }: Counted, scope: Scope): Counted[] {
    const now = this.#parts.clock.mono()
    const counts = ({ made, ...each }: Counted): boolean => {
      if (scope === 'group' && each.taken.group !== taken.group) return false
      if (each.member === member) return true
      if (made === null || made.life.isDead || each.member.awakeSince() >= now) return false
      return !this.#isLost(made, each.member)
    }
    return [...this.#running, ...this.#marking.values()].filter(counts)
  }

  /** Whether it goes on though it was aborted since its partition was lost; it may have been aborted before, and ignore it. */
  #isLost(made: Made, member: Limited): boolean {
    const why = whyOf(made)
    if (why === null) return false
    if (why === 'lost' || why === 'stop' || member.hasLeft()) return true
    return !member.isTrusted() || this.#parts.epochOf(made.taken.partition) !== made.epoch
  }

  /** How many start in a span. [L14] [L15] [L17] */
  #judgeRate(counted: Counted, scope: Scope): void {
    const { history } = this
    const rate = history.current.limits[scope].rate
    const since = history.spanSince(scope)
    if (rate === null || since === null || counted.known < since) return
    // Until its next pulse a member whose clock was set takes shares of the gone for free too soon.
    if (scope === 'pool' && counted.at < this.clockSetAt + rate.perMs + SET_CLOCK_MS) return
    const marking = [...this.#marking.values()].filter(({ member }) => member === counted.member)
    const others = [...this.#starts, ...marking].filter(
      (each) =>
        each.known >= since &&
        (scope === 'pool' || each.taken.group === counted.taken.group) &&
        (each.made === null || isWithin(each, counted, { perMs: rate.perMs, scope })),
    )
    const known = scope === 'group' ? [counted.known] : others.map((each) => each.known)
    const most = history.most(Math.min(...known), ({ limits }) => limits[scope].rate?.count ?? null)
    this.#met(scope, others.length === most)
    if (others.length <= most) return
    const rule = counted.made === null ? 'X44' : scope === 'group' ? 'L14' : 'L17'
    const told = `${others.length} ${of(counted, scope)} start within ${rate.perMs} ms, of ${most}`
    this.#tell(counted, `[${rule}] and ${told}`)
  }

  #met(scope: Scope, isMet: boolean): void {
    if (!isMet) return
    const { races } = this.#parts
    races[scope === 'group' ? 'a limit of a group was reached' : 'a limit of the pool was reached'] += 1
  }

  #forget(): void {
    const before = this.#parts.clock.mono() - LONGEST_SPAN_MS
    if ((this.#starts[0]?.at ?? Infinity) < before)
      this.#starts = this.#starts.filter(({ at }) => at >= before)
  }

  #tell({ member, taken, made }: Counted, what: string): void {
    this.#say(member, taken, made === null ? 'marks' : 'starts', what)
  }

  #say({ name }: Limited, { turn, key, group }: TakenRun, does: string, what: string): void {
    const [rule, ...rest] = what.split(' ')
    this.#parts.say(`${rule} ${name} ${does} turn ${turn} of ${key} in ${group}: ${rest.join(' ')}`)
  }
}

/** What is past by the store's clock counts no more for the pool, whose members share by it. [L20] */
function isWithin(
  before: Counted,
  { at, storeAt }: Counted,
  { perMs, scope }: { perMs: number; scope: Scope },
): boolean {
  return before.at > at - perMs && (scope === 'group' || before.storeAt > storeAt - perMs)
}

function isNone({ concurrency, rate }: Limit): boolean {
  return concurrency === null && rate === null
}

function of({ taken }: Counted, scope: Scope): string {
  return scope === 'group' ? `runs of ${taken.group}` : 'runs of the pool'
}
