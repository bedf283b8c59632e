// Watches the worker of one life from outside: what its takes were answered, which handlers it starts, how they end, and
// what it settles. Takes are marked in their payloads, so that a handler knows which answer it was started from.
import type { Clock } from '../../clock.ts'
import type { Claim } from '../../fence.ts'
import { type Lane, type TakenRun, entryName } from '../../pool/entry.ts'
import type { Run, RunContext } from '../../pool/run.ts'
import type { Settlement } from '../../pool/settle.ts'
import type { CancelAnswer, SettleAnswer, Taken, TakeRequest } from '../../pool/store.ts'
import type { Grant } from '../../roster/store.ts'
import type { Store } from '../../store.ts'
import type { Conduct } from './conduct.ts'
import type { JobWitness } from './job-witness.ts'
import { JobKeys, type Mark } from './job-keys.ts'
import { JobProgress } from './job-progress.ts'
import { JOBS, type JobRules } from './jobs.ts'
import { type Ending, type Made, UNDER_WAY, isCalledOff, isLetGo, turnOf, whyOf } from './made.ts'
import { Owed } from './owed.ts'
import type { RaceCounts } from './sometimes.ts'

export interface JobConductParts {
  life: Made['life'] & { readonly isLeaving: boolean }
  rules: JobRules
  clock: Clock
  conduct: Conduct
  witness: JobWitness
  races: RaceCounts
}

/** How long a stop waits for the answers to its last settles. */
const LAST_SETTLES_MS = 1000

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
  readonly #owed = new Owed()
  readonly #keys = new JobKeys()
  readonly #told = new JobProgress()
  #takes = 0
  /** When the last handler ended, by the monotonic clock. */
  #endedAt = -Infinity

  constructor(parts: JobConductParts) {
    this.#parts = parts
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    const { entries } = store.pool
    const { roster } = store
    const parts = this.#parts
    return {
      ...store,
      pool: {
        ...store.pool,
        entries: {
          ...entries,
          take: (pool, request) => (pool === JOBS ? this.#take(store, request) : entries.take(pool, request)),
          settle: (pool, settlements, claim) =>
            pool === JOBS
              ? this.#settle(store, settlements, claim)
              : entries.settle(pool, settlements, claim),
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
      roster: {
        ...roster,
        grant: (owner, grants) => {
          const early = this.#early()
          const answer = roster.grant(owner, grants)
          // One that is refused hands nothing over: the partition was another's meanwhile.
          const judge = (given: boolean[]): void =>
            this.#handsOver(
              early,
              grants.filter((_, nth) => given[nth]),
            )
          void answer.then(judge, () => undefined)
          return answer
        },
        leave: (owner, grants) => {
          this.#handsOver(this.#early(), grants)
          return roster.leave(owner, grants)
        },
      },
    }
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

  /** Whether runs of a key may wait in memory: another of it is in flight, or all handlers run, or did until now. */
  #mayWait(key: string): boolean {
    const { clock, rules } = this.#parts
    const isBusy = this.#running.size >= rules.concurrency || this.#endedAt === clock.mono()
    return isBusy || this.#last.get(key)?.overAt === Infinity
  }

  started(run: Run, context: RunContext): Made {
    const { life, clock, rules, witness } = this.#parts
    const mark = this.#marks[run.payload as number] as Mark
    const { taken } = mark
    const { partition, epoch } = context.fence
    const made: Made = { taken, epoch, context, life, startedAt: clock.mono(), ...UNDER_WAY }
    this.#judgeStart(made, mark)
    this.#owed.started(taken)
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
    for (const wrong of [against, this.#keys.start(mark, last, made.startedAt)])
      if (wrong !== null) this.#say(made, wrong)
    if (last?.ending === null) this.#say(made, `[X2] and turn ${last.taken.turn} of its key runs`)
    if (last !== undefined && this.#settling.has(last))
      this.#say(made, `[X2] and turn ${last.taken.turn} of its key is being settled`)
    // Behind a key they start in due order, and a clock that was set back makes the later turn due first.
    const before = this.#turns.get(entryName(taken.key, taken.slot))
    if (before !== undefined && before.turn > taken.turn && before.dueAt >= taken.dueAt)
      this.#say(made, `[X3] and a later turn of it was started before`)
    if (earlier?.isCancelled === false && !this.#turns.has(entryName(taken.key, earlier.taken.slot)))
      this.#say(made, `[X2] and ${earlier.taken.slot} was due before it, and was not started`)
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

  /** Answers the run that is settled; null: there is none. */
  #judgeSettle({ key, turn, seen, outcome }: Settlement, claim: Claim): Made | null {
    const { life, rules, witness } = this.#parts
    const made = this.#last.get(key)
    if (made === undefined || made.taken.turn !== turn || made.ending === null || made.taken.seen !== seen) {
      witness.say(`[X15] ${life.name} settles turn ${turn} of ${key}, which it has not run to its end`)
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

  /** A hand-over waits for these runs and settles: they were not aborted, and no stop has waited for long enough. [X16] */
  #early(): Made[] {
    const { clock, rules, life } = this.#parts
    const now = clock.mono()
    const settling = [...this.#settling]
      .filter(([, sentAt]) => !life.isLeaving || now - sentAt < LAST_SETTLES_MS)
      .map(([made]) => made)
    return [...this.#running, ...settling].filter(
      (made) => now - made.startedAt < rules.drainWithinMs && whyOf(made) === null,
    )
  }

  #handsOver(early: readonly Made[], grants: readonly Grant[]): void {
    const given = new Set(grants.map(({ resource, partition, epoch }) => `${resource} ${partition} ${epoch}`))
    for (const made of early) {
      const name = `pool/${JOBS} ${made.taken.partition} ${made.epoch}`
      if (given.has(name)) this.#say(made, `[X16] and its partition is handed over`)
    }
  }

  #say({ taken }: Made, what: string): void {
    const [rule, ...rest] = what.split(' ')
    const { life, witness } = this.#parts
    witness.say(`${rule} ${life.name} started turn ${taken.turn} of ${taken.key}: ${rest.join(' ')}`)
  }
}
