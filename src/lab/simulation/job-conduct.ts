// Watches the worker of one life from outside: what its takes were answered, which handlers it starts, how they end, and
// what it settles. Takes are marked in their payloads, so that a handler knows which answer it was started from.
import type { Claim, Held } from '../../fence.ts'
import { type Entry, type Lane, type TakenRun, entryName } from '../../pool/entry.ts'
import type { Run, RunContext } from '../../pool/run.ts'
import type { Settlement } from '../../pool/settle.ts'
import type {
  CancelAnswer,
  Mark as Marked,
  MarkAnswer,
  SettleAnswer,
  Taken,
  TakeRequest,
  ToldProgress,
} from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import type { JobConductParts } from './job-conduct-parts.ts'
import { JobHandOver } from './job-hand-over.ts'
import { JobKeys, type Mark } from './job-keys.ts'
import { JobProgress } from './job-progress.ts'
import { wrongWithStart } from './job-starts.ts'
import { watchJobs } from './job-store.ts'
import { JobSuspects } from './job-suspects.ts'
import { JobSteering } from './job-steering.ts'
import { JOBS } from './jobs.ts'
import { type Ending, type Made, UNDER_WAY, isCalledOff, isLetGo, turnOf } from './made.ts'
import { racesOf, wrongWithEnd, wrongWithSettle } from './job-ends.ts'
import { Owed } from './owed.ts'

export class JobConduct {
  readonly #parts: JobConductParts
  readonly #marks: Mark[] = []
  /** Handlers that run, and runs whose settle is under way. */
  readonly #running = new Set<Made>()
  readonly #settling = new Set<Made>()
  /** The last run of each key, and the last of each entry. */
  readonly #last = new Map<string, Made>()
  readonly #turns = new Map<string, Mark>()
  /** The settled runs, by the number of takes that had been sent then. */
  readonly #settled = new Map<string, number>()
  readonly #lanes = new Map<Made, Lane>()
  /** Turns that are known to be gone, or that were given up without a start. */
  readonly #gone = new Set<string>()
  /** The last run of each key that was given up without a start, and when that was settled; Infinity: it has not been. */
  readonly #burials = new Map<string, { mark: Mark; overAt: number }>()
  readonly #owed = new Owed()
  readonly #keys = new JobKeys()
  readonly #told = new JobProgress()
  readonly #suspects: JobSuspects
  readonly #handOver: JobHandOver
  readonly #steering: JobSteering
  #takes = 0
  /** When the last handler ended, by the monotonic clock. */
  #endedAt = -Infinity

  constructor(parts: JobConductParts) {
    this.#parts = parts
    const mayBeLost = (held: Held): boolean =>
      parts.life.leavingAt < Infinity || parts.conduct.mayBeLost(JOBS, held)
    const inFlight = (lane: Lane): number => this.#keys.inFlight(lane, this.#last.values())
    const { trustMs } = parts.conduct
    this.#steering = new JobSteering({
      ...parts,
      ...parts.steered,
      trustMs,
      running: this.#running,
      inFlight,
    })
    this.#suspects = new JobSuspects({ ...parts, running: this.#running, mayBeLost })
    this.#handOver = new JobHandOver({
      ...parts,
      drainWithinMs: parts.rules.drainWithinMs,
      running: this.#running,
      settling: this.#settling,
      marking: () => this.#suspects.underWay(),
      say: (violation) => parts.witness.say(violation),
    })
  }

  /** The same store, watched. */
  wrap(unwatched: Store): Store {
    const store = this.#steering.wrap(unwatched)
    return this.#handOver.wrap(
      watchJobs(store, {
        raised: (claim, answers) => {
          for (const wrong of this.#suspects.raised(claim, answers)) this.#parts.witness.say(wrong)
        },
        take: (request) => this.#take(store, request),
        settle: (settlements, claim) => this.#settle(store, settlements, claim),
        mark: (marks, claim) => this.#mark(store, marks, claim),
        cancel: (name) => this.#cancel(store, name),
        get: (name) => {
          const look = (): Promise<Entry | null> => store.pool.browse.get(JOBS, name)
          return this.#keys.lookUp(name, look, (gone) => this.#owed.over(gone))
        },
        tells: (told, claim) => this.#tells(told, claim),
      }),
    )
  }

  async #take({ pool }: Store, request: TakeRequest): Promise<Taken> {
    const { clock, conduct, life, witness, races } = this.#parts
    this.#takes += 1
    const take = this.#takes
    const askedAt = conduct.moment
    const now = { mono: clock.mono(), store: witness.calmNow }
    const { wrong, answered } = this.#owed.sent(request, now, (key) => this.#mayWait(key))
    for (const each of wrong) witness.say(each.replace(']', `] a take of ${life.name}`))
    const answer = await pool.entries.take(JOBS, request)
    answered(answer)
    const { lane } = request
    const byKey = new Map<string, Mark>()
    const answeredAt = clock.mono()
    const runs = answer.runs.map((taken) => {
      const name = `${taken.partition} ${taken.key}`
      const earlier = byKey.get(name) ?? null
      const mark = { taken, lane, askedAt, answeredAt, earlier, isCancelled: false }
      byKey.set(name, mark)
      this.#answered(mark, take)
      if (conduct.raisedSince(JOBS, taken.partition, askedAt))
        races['a take came back under a later epoch'] += 1
      return { ...taken, payload: String(this.#marks.push(mark) - 1) }
    })
    return { ...answer, runs }
  }

  /** A take, by its number, has answered a run. */
  #answered(mark: Mark, take: number): void {
    const { races } = this.#parts
    const { taken, lane } = mark
    this.#keys.add(mark)
    const settledAt = this.#settled.get(turnOf(taken))
    if (settledAt !== undefined && settledAt >= take)
      races['a take came back after its turn was settled'] += 1
    const last = this.#last.get(taken.key)
    if (settledAt !== undefined || last?.overAt !== Infinity || last.taken.turn === taken.turn) return
    races['a run was passed over because its key was in flight'] += 1
    this.#owed.add({ lane, taken, by: last })
    // What is answered in doubt is dropped. [X4]
    if (this.#isHeld(mark) && this.#parts.conduct.isTrusted) this.#keys.putBehind(mark)
  }

  /**
   * Whether runs of a key may wait: behind one that is not over yet or is being given up, for a handler, for one that is alone,
   * or to be steered.
   */
  #mayWait(key: string): boolean {
    const { clock, rules } = this.#parts
    if (this.#running.size >= rules.concurrency || this.#endedAt === clock.mono()) return true
    if (this.#steering.mayHoldBack) return true
    const burial = this.#burials.get(key)
    if (burial !== undefined && burial.overAt >= clock.mono() && this.#isHeld(burial.mark)) return true
    const isBehind = (this.#last.get(key)?.overAt ?? -Infinity) >= clock.mono()
    return isBehind || this.#suspects.holdsBack([...this.#keys.all()].filter(this.#isHeld))
  }

  /** Whether its partition was not raised since its take was sent. */
  readonly #isHeld = ({ taken, askedAt }: Mark): boolean =>
    !this.#parts.conduct.raisedSince(JOBS, taken.partition, askedAt)

  started(run: Run, context: RunContext): Made {
    const { life, clock, rules, witness } = this.#parts
    const mark = this.#marks[run.payload as number] as Mark
    const { taken } = mark
    const { epoch } = context.fence
    const made: Made = { taken, epoch, context, life, startedAt: clock.mono(), ...UNDER_WAY }
    this.#judgeStart(made, mark, run)
    this.#owed.over(taken)
    this.#running.add(made)
    this.#last.set(taken.key, made)
    this.#lanes.set(made, mark.lane)
    this.#turns.set(entryName(taken.key, taken.slot), mark)
    if (this.#running.size > rules.concurrency)
      this.#say(made, `[X1] and ${this.#running.size} handlers run, of ${rules.concurrency}`)
    witness.started(made)
    this.#steering.started(made)
    return made
  }

  #judgeStart(made: Made, mark: Mark, run: Run): void {
    const { taken, askedAt, earlier } = mark
    const last = this.#last.get(taken.key)
    const against = this.#parts.conduct.speaksAgainst(JOBS, made.context.fence, askedAt)
    const wrong = [against, this.#keys.start(mark, last, made.startedAt), ...this.#suspects.start(made, mark)]
    const isSettling = last !== undefined && this.#settling.has(last)
    const before = this.#turns.get(entryName(taken.key, taken.slot))
    const isEarlierOver = earlier === null || this.#isOver(earlier.taken)
    wrong.push(...wrongWithStart({ made, mark, run, last, isSettling, before, isEarlierOver }))
    for (const each of wrong) if (each !== null) this.#say(made, each)
  }

  /** Whether nothing of a turn needs to start any more. */
  #isOver(taken: TakenRun): boolean {
    const isStarted = this.#turns.has(entryName(taken.key, taken.slot))
    return isStarted || this.#gone.has(turnOf(taken)) || this.#keys.isCancelled(taken)
  }

  ended(made: Made, ending: Ending): void {
    const { clock, rules, races } = this.#parts
    made.ending = ending
    made.endedAt = clock.mono()
    this.#running.delete(made)
    for (const race of racesOf(made, this.#keys.wasAsked(made.taken.key))) races[race] += 1
    const lane = this.#lanes.get(made)
    this.#lanes.delete(made)
    this.#endedAt = clock.mono()
    this.#steering.ended(made)
    if (isCalledOff(made)) made.overAt = clock.mono()
    if (isLetGo(made) && lane !== undefined) {
      made.overAt = clock.mono()
      this.#owed.add({ lane, taken: made.taken, by: made })
    }
    for (const wrong of wrongWithEnd(made, rules.timeoutMs)) this.#say(made, wrong)
  }

  async #settle({ pool }: Store, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    const all = settlements.map((settlement) => this.#judgeSettle(settlement, claim))
    for (const made of all) if (made !== null) this.#settling.add(made)
    try {
      const answers = await pool.entries.settle(JOBS, settlements, claim)
      for (const [nth, made] of all.entries()) {
        const burial = this.#burials.get(settlements[nth]?.key ?? '')
        if (made === null && burial !== undefined) burial.overAt = this.#parts.clock.mono()
        if (made === null) continue
        made.answer = answers[nth]?.result ?? null
        made.overAt = this.#parts.clock.mono()
        this.#settled.set(turnOf(made.taken), this.#takes)
      }
      return answers
    } finally {
      for (const made of all) if (made !== null) this.#settling.delete(made)
    }
  }

  async #mark({ pool }: Store, marks: Marked[], claim: Claim): Promise<MarkAnswer[]> {
    const { life, witness, races } = this.#parts
    const all = marks.map((mark) => ({ mark, taken: this.#keys.unstarted(mark) }))
    for (const wrong of this.#suspects.marking(all)) witness.say(wrong.replace(']', `] ${life.name}`))
    for (const { taken } of all) if (taken[0] !== undefined) this.#suspects.sent(taken[0], claim)
    const marked = all.flatMap(({ taken }) => taken.slice(0, 1).map((each) => each.taken))
    const call = (): Promise<MarkAnswer[]> => pool.entries.mark(JOBS, marks, claim)
    const answers = await this.#steering.marking(marked, call).catch((error: unknown) => {
      this.#suspects.failed(all.map(({ taken }) => taken[0]))
      throw error
    })
    for (const [nth, { mark, taken }] of all.entries()) {
      const result = answers[nth]?.result ?? 'refused'
      if (result === 'gone') races['a mark found its turn gone'] += 1
      if (taken[0] === undefined) continue
      this.#suspects.answered(taken[0], mark.crashes, result)
      if (result === 'gone') this.#forget(taken[0].taken)
    }
    return answers
  }

  #forget(taken: TakenRun): void {
    this.#gone.add(turnOf(taken))
    this.#keys.gone(taken)
    this.#owed.over(taken)
  }

  /** Answers the run that is settled; null: none was started. */
  #judgeSettle(settlement: Settlement, claim: Claim): Made | null {
    const { life, rules, witness } = this.#parts
    const { key, turn, seen, outcome } = settlement
    const made = this.#last.get(key)
    const isRun = made?.taken.turn === turn && made.ending !== null && made.taken.seen === seen
    if (!isRun || (outcome.kind === 'dead' && outcome.reason === 'crashed')) {
      const taken = this.#keys.unstarted(settlement)
      const wrong = this.#suspects.buries(settlement, taken)
      if (wrong !== null) witness.say(wrong.replace(']', `] ${life.name} settles turn ${turn} of ${key},`))
      for (const mark of taken) {
        this.#burials.set(key, { mark, overAt: Infinity })
        this.#forget(mark.taken)
      }
      return null
    }
    for (const wrong of wrongWithSettle(made, { outcome, claim, attempts: rules.attempts }))
      this.#say(made, wrong)
    return made
  }

  #tells(told: readonly ToldProgress[], claim: Claim): void {
    const { clock, life, witness } = this.#parts
    const lastOf = (key: string): Made | undefined => this.#last.get(key)
    for (const wrong of this.#told.judge(told, claim, { now: clock.mono(), lastOf }))
      witness.say(`[Z6] ${life.name} ${wrong}`)
  }

  /** What is under way of a cancelled entry is told so, and what was taken does not start. [X24] */
  async #cancel({ pool }: Store, name: { key: string; slot?: number | null }): Promise<CancelAnswer> {
    const { clock, races } = this.#parts
    const cancelled = this.#keys.cancelling(name, clock.mono())
    const meant = [...this.#running].filter(
      ({ taken }) => taken.key === name.key && (name.slot === undefined || taken.slot === name.slot),
    )
    const answer = await pool.entries.cancel(JOBS, name)
    cancelled()
    this.#owed.cancelled(name)
    for (const made of meant.filter(({ ending }) => ending === null)) {
      made.cancelledAt = clock.mono()
      races['a run was under way when its entry was cancelled'] += 1
    }
    return answer
  }

  #say({ taken }: Made, what: string): void {
    const [rule, ...rest] = what.split(' ')
    const { life, witness } = this.#parts
    witness.say(`${rule} ${life.name} started turn ${taken.turn} of ${taken.key}: ${rest.join(' ')}`)
  }
}
