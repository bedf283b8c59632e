// Watches the worker of one life from outside: what its takes were answered, which handlers it starts, how they end, and
// what it settles. Takes are marked in their payloads, so that a handler knows which answer it was started from.
import type { Clock } from '../../clock.ts'
import { type Claim, type Held, poolResource } from '../../fence.ts'
import { type Lane, type TakenRun, entryName } from '../../pool/entry.ts'
import type { Run, RunContext } from '../../pool/run.ts'
import type { Settlement } from '../../pool/settle.ts'
import type {
  CancelAnswer,
  Mark as Marked,
  MarkAnswer,
  SettleAnswer,
  Taken,
  TakeRequest,
} from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import type { Conduct } from './conduct.ts'
import type { JobWitness } from './job-witness.ts'
import { JobHandOver, type Unfinished } from './job-hand-over.ts'
import { JobKeys, type Mark } from './job-keys.ts'
import { JobProgress } from './job-progress.ts'
import { JobSuspects } from './job-suspects.ts'
import { JOBS, type JobRules } from './jobs.ts'
import { type Ending, type Made, UNDER_WAY, isCalledOff, isLetGo, turnOf, whyOf } from './made.ts'
import { Owed } from './owed.ts'
import type { RaceCounts } from './sometimes.ts'

export interface JobConductParts {
  life: Made['life'] & { readonly leavingAt: number }
  rules: JobRules
  clock: Clock
  conduct: Conduct
  witness: JobWitness
  races: RaceCounts
}

/** How long a stop waits for the answers to its last settles, and to marks. */
const LAST_CALLS_MS = 1000

export class JobConduct {
  readonly #parts: JobConductParts
  readonly #marks: Mark[] = []
  /** Handlers that run. */
  readonly #running = new Set<Made>()
  /** Runs whose settle is under way, and since when. */
  readonly #settling = new Map<Made, number>()
  /** The last run of each key, and the last of each entry. */
  readonly #last = new Map<string, Made>()
  readonly #turns = new Map<string, TakenRun>()
  /** The settled runs, by the number of takes that had been sent then. */
  readonly #settled = new Map<string, number>()
  readonly #lanes = new Map<Made, Lane>()
  /** Turns that are known to be gone, or that were given up without a start. */
  readonly #gone = new Set<string>()
  readonly #owed = new Owed()
  readonly #keys = new JobKeys()
  readonly #told = new JobProgress()
  readonly #suspects: JobSuspects
  readonly #handOver: JobHandOver
  #takes = 0
  /** When the last handler ended, by the monotonic clock. */
  #endedAt = -Infinity

  constructor(parts: JobConductParts) {
    this.#parts = parts
    const mayBeLost = (held: Held): boolean =>
      parts.life.leavingAt < Infinity || parts.conduct.mayBeLost(JOBS, held)
    this.#suspects = new JobSuspects({ ...parts, running: this.#running, mayBeLost })
    this.#handOver = new JobHandOver({
      ...parts,
      drainWithinMs: parts.rules.drainWithinMs,
      unfinished: () => this.#unfinished(),
      say: (violation) => parts.witness.say(violation),
    })
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    const { entries } = store.pool
    const { fences } = store
    const parts = this.#parts
    return this.#handOver.wrap({
      ...store,
      fences: {
        ...fences,
        raise: async (resource, claim) => {
          const answers = await fences.raise(resource, claim)
          if (resource === poolResource(JOBS))
            for (const wrong of this.#suspects.raised(claim, answers)) parts.witness.say(wrong)
          return answers
        },
      },
      pool: {
        ...store.pool,
        entries: {
          ...entries,
          take: (pool, request) => (pool === JOBS ? this.#take(store, request) : entries.take(pool, request)),
          settle: (pool, settlements, claim) =>
            pool === JOBS
              ? this.#settle(store, settlements, claim)
              : entries.settle(pool, settlements, claim),
          mark: (pool, marks, claim) =>
            pool === JOBS ? this.#mark(store, marks, claim) : entries.mark(pool, marks, claim),
          cancel: (pool, name) => (pool === JOBS ? this.#cancel(store, name) : entries.cancel(pool, name)),
        },
        progress: {
          ...store.pool.progress,
          tell: (pool, told, claim) => {
            const now = parts.clock.mono()
            const wrong = this.#told.judge(told, claim, { now, lastOf: (key) => this.#last.get(key) })
            for (const each of wrong) parts.witness.say(`[Z6] ${parts.life.name} ${each}`)
            return store.pool.progress.tell(pool, told, claim)
          },
        },
      },
    })
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
    const { races, conduct } = this.#parts
    const { taken, lane, askedAt } = mark
    this.#keys.add(mark)
    const settledAt = this.#settled.get(turnOf(taken))
    if (settledAt !== undefined && settledAt >= take)
      races['a take came back after its turn was settled'] += 1
    const last = this.#last.get(taken.key)
    if (settledAt !== undefined || last?.overAt !== Infinity || last.taken.turn === taken.turn) return
    races['a run was passed over because its key was in flight'] += 1
    this.#owed.add({ lane, taken, by: last })
    if (!conduct.raisedSince(JOBS, taken.partition, askedAt)) this.#keys.putBehind(mark)
  }

  /**
   * Whether runs of a key may wait in memory: another of it is in flight, or all handlers run, or did until now, or a run is
   * held back that may not start beside others.
   */
  #mayWait(key: string): boolean {
    const { clock, rules } = this.#parts
    const isBusy = this.#running.size >= rules.concurrency || this.#endedAt === clock.mono()
    return isBusy || this.#last.get(key)?.overAt === Infinity || this.#suspects.holdsBack(this.#startable())
  }

  /** What was taken, has not started, and may. */
  *#startable(): Generator<Mark> {
    for (const mark of this.#keys.all())
      if (!this.#parts.conduct.raisedSince(JOBS, mark.taken.partition, mark.askedAt)) yield mark
  }

  started(run: Run, context: RunContext): Made {
    const { life, clock, rules, witness } = this.#parts
    const mark = this.#marks[run.payload as number] as Mark
    const { taken } = mark
    const { partition, epoch } = context.fence
    const made: Made = { taken, epoch, context, life, startedAt: clock.mono(), ...UNDER_WAY }
    this.#judgeStart(made, mark)
    this.#owed.over(taken)
    this.#running.add(made)
    this.#last.set(taken.key, made)
    this.#lanes.set(made, mark.lane)
    this.#turns.set(entryName(taken.key, taken.slot), taken)
    if (this.#running.size > rules.concurrency)
      this.#say(made, `[X1] and ${this.#running.size} handlers run, of ${rules.concurrency}`)
    if (partition !== taken.partition || run.tally !== taken.seen || context.attempt !== taken.attempt + 1)
      this.#say(made, `[X4] as another run than was taken`)
    witness.started(made)
    return made
  }

  #judgeStart(made: Made, mark: Mark): void {
    const { taken, askedAt, earlier } = mark
    const { conduct } = this.#parts
    const last = this.#last.get(taken.key)
    const against = conduct.speaksAgainst(JOBS, made.context.fence, askedAt)
    const wrong = [against, this.#keys.start(mark, last, made.startedAt), ...this.#suspects.start(made, mark)]
    for (const each of wrong) if (each !== null) this.#say(made, each)
    if (last?.ending === null) this.#say(made, `[X2] and turn ${last.taken.turn} of its key runs`)
    if (last !== undefined && this.#settling.has(last))
      this.#say(made, `[X2] and turn ${last.taken.turn} of its key is being settled`)
    // Behind a key they start in due order, and a clock that was set back makes the later turn due first.
    const before = this.#turns.get(entryName(taken.key, taken.slot))
    if (before !== undefined && before.turn > taken.turn && before.dueAt >= taken.dueAt)
      this.#say(made, `[X3] and a later turn of it was started before`)
    if (earlier !== null && !this.#isOver(earlier.taken))
      this.#say(made, `[X2] and ${earlier.taken.slot} was due before it, and was not started`)
  }

  /** Whether nothing of a turn needs to start any more. */
  #isOver(taken: TakenRun): boolean {
    const isStarted = this.#turns.has(entryName(taken.key, taken.slot))
    return isStarted || this.#gone.has(turnOf(taken)) || this.#keys.isCancelled(taken)
  }

  ended(made: Made, ending: Ending): void {
    const { clock, rules, races } = this.#parts
    made.ending = ending
    this.#running.delete(made)
    const tookMs = clock.mono() - made.startedAt
    const why = whyOf(made)
    if (why === 'timeout') races['a run timed out'] += 1
    const lane = this.#lanes.get(made)
    this.#lanes.delete(made)
    this.#endedAt = clock.mono()
    if (isCalledOff(made)) made.overAt = clock.mono()
    if (made.cancelledAt < clock.mono() && why === null)
      this.#say(made, `[X24] and its entry was cancelled here, and its signal did not fire`)
    if (isLetGo(made) && lane !== undefined) {
      made.overAt = clock.mono()
      this.#owed.add({ lane, taken: made.taken, by: made })
    }
    if (rules.timeoutMs !== null && tookMs > rules.timeoutMs && why === null)
      this.#say(made, `[X13] and took ${tookMs} ms without an abort`)
  }

  async #settle({ pool }: Store, settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]> {
    const all = settlements.map((settlement) => this.#judgeSettle(settlement, claim))
    const sentAt = this.#parts.clock.mono()
    for (const made of all) if (made !== null) this.#settling.set(made, sentAt)
    try {
      const answers = await pool.entries.settle(JOBS, settlements, claim)
      for (const [nth, made] of all.entries()) {
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
    const answers = await pool.entries.mark(JOBS, marks, claim).catch((error: unknown) => {
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
    if (made === undefined || made.taken.turn !== turn || made.ending === null || made.taken.seen !== seen) {
      const taken = this.#keys.unstarted(settlement)
      const wrong = this.#suspects.buries(settlement, taken)
      if (wrong !== null) witness.say(wrong.replace(']', `] ${life.name} settles turn ${turn} of ${key},`))
      for (const mark of taken) this.#forget(mark.taken)
      return null
    }
    const held = claim.held.find(({ partition }) => partition === made.taken.partition)
    if (held?.epoch !== made.epoch)
      this.#say(made, `[X15] under epoch ${made.epoch}, and it is settled under ${held?.epoch}`)
    const { ending } = made
    const isFailure = ending === 'throw' || ending === 'retry'
    const isLast = made.taken.attempt + 1 >= rules.attempts
    const expected = isFailure ? (isLast ? 'dead' : 'retry') : ending
    if (isLetGo(made) || isCalledOff(made))
      this.#say(
        made,
        `[${isLetGo(made) ? 'X14' : 'X24'}] and threw when it was aborted by ${whyOf(made)}, and is settled as ${outcome.kind}`,
      )
    else if (outcome.kind !== expected)
      this.#say(made, `[X11] and ended with ${ending}, and is settled as ${outcome.kind}`)
    return made
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

  /** What a hand-over waits for. Who was aborted because the partition was lost, or by a stop, is given up. */
  #unfinished(): Unfinished[] {
    const { rules, conduct } = this.#parts
    const unfinished = (made: Made, since: number, stopWaitsMs: number): Unfinished => {
      const what = `started turn ${made.taken.turn} of ${made.taken.key}:`
      return { partition: made.taken.partition, epoch: made.epoch, rule: 'X16', what, since, stopWaitsMs }
    }
    const marking = this.#suspects.underWay().map(({ taken, epoch, sentAt }): Unfinished => {
      const what = `marks turn ${taken.turn} of ${taken.key}:`
      const { partition } = taken
      return { partition, epoch, rule: 'X47', what, since: sentAt, stopWaitsMs: LAST_CALLS_MS }
    })
    return [
      ...[...this.#running]
        .filter((made) => !conduct.mayBeLost(JOBS, made.context.fence))
        .filter((made) => !['lost', 'stop'].includes(whyOf(made) ?? ''))
        .map((made) => unfinished(made, made.startedAt, rules.drainWithinMs)),
      ...[...this.#settling].map(([made, sentAt]) => unfinished(made, sentAt, LAST_CALLS_MS)),
      ...marking,
    ]
  }

  #say({ taken }: Made, what: string): void {
    const [rule, ...rest] = what.split(' ')
    const { life, witness } = this.#parts
    witness.say(`${rule} ${life.name} started turn ${taken.turn} of ${taken.key}: ${rest.join(' ')}`)
  }
}
