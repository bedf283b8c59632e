// What steers one worker, watched from outside: what it must know of it, what it takes and starts by that, and what it marks.
// Rules [L12] and [L16] of docs/spec/limits.md and [X1] of docs/spec/work.md; limits are judged in job-limits.ts.
import type { Clock } from '../../clock.ts'
import type { Control } from '../../pool/control.ts'
import type { Lane } from '../../pool/entry.ts'
import type { ControlStore, Taken, TakeRequest } from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import { JobKnowledge, isOwnShare } from './job-knowledge.ts'
import type { JobLimits, Limited } from './job-limits.ts'
import { JobTakes } from './job-takes.ts'
import { JOBS } from './jobs.ts'
import type { Made } from './made.ts'
import type { RaceCounts } from './sometimes.ts'

export interface JobSteeringParts {
  clock: Clock
  member: Limited
  /** How far the store's clock is ahead of this member's. */
  aheadMs(): number
  trustMs: number
  rules: { readonly concurrency: number }
  running: ReadonlySet<Made>
  /** How many runs of a lane takes have answered that may be in flight. */
  inFlight(lane: Lane): number
  limits: JobLimits
  races: RaceCounts
  witness: { say(violation: string): void }
}

export class JobSteering {
  readonly #parts: JobSteeringParts
  readonly #knowledge: JobKnowledge
  readonly #takes = new JobTakes()

  constructor(parts: JobSteeringParts) {
    this.#parts = parts
    const awakeSince = (): number => parts.member.awakeSince()
    const { clock, trustMs } = parts
    this.#knowledge = new JobKnowledge({ clock, awakeSince, aheadMs: () => parts.aheadMs(), trustMs })
  }

  /** Whether runs may wait: what steers them is being read, or holds them back. */
  get mayHoldBack(): boolean {
    return this.#knowledge.isBeingRead || this.#parts.limits.mayHoldBack(this.#knowledge.known)
  }

  started(made: Made): void {
    const { limits, member } = this.#parts
    limits.started(made, member, this.#knowledge)
  }

  ended(made: Made): void {
    this.#takes.ended()
    this.#parts.limits.ended(made)
  }

  /** Runs are marked until that is answered. */
  marking<Answer>(runs: readonly Made['taken'][], call: () => Promise<Answer>): Promise<Answer> {
    const { limits, member } = this.#parts
    for (const taken of runs) limits.marks(taken, member, this.#knowledge.knownBefore)
    const over = (): void => runs.forEach((taken) => limits.marked(taken, member))
    const failed = (): void => runs.forEach((taken) => limits.markFailed(taken, member))
    return seen(call(), over, failed)
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    const { entries, control } = store.pool
    return {
      ...store,
      pulse: (request) => {
        const [sentAt, aheadMs] = [this.#parts.clock.mono(), this.#parts.aheadMs()]
        return seen(store.pulse(request), (pulse) => this.#knowledge.pulsed(pulse, sentAt, aheadMs))
      },
      pool: {
        ...store.pool,
        control: this.#control(control),
        entries: {
          ...entries,
          take: (pool, request) =>
            pool === JOBS
              ? this.#take(request, () => entries.take(pool, request))
              : entries.take(pool, request),
        },
      },
    }
  }

  #control(control: ControlStore): ControlStore {
    const knowledge = this.#knowledge
    return {
      read: async (pool) => {
        if (pool !== JOBS) return control.read(pool)
        knowledge.begin()
        try {
          const found = await control.read(pool)
          knowledge.read(found)
          return found
        } finally {
          knowledge.end()
        }
      },
      write: (pool, version, after) => {
        if (pool !== JOBS) return control.write(pool, version, after)
        const isShare = isOwnShare(this.#parts.limits.history.at(version), after)
        knowledge.begin()
        const written = (answer: number | null): void => {
          knowledge.end()
          if (isShare && answer === null) this.#parts.races['a share was lost by compare-and-set'] += 1
          else if (isShare && answer !== null) knowledge.wrote(answer)
        }
        return seen(control.write(pool, version, after), written, () => knowledge.end())
      },
    }
  }

  #take(request: TakeRequest, call: () => Promise<Taken>): Promise<Taken> {
    const { clock, member, limits } = this.#parts
    const { known, slackMs } = this.#knowledge
    const room = { ...this.#room(known), inFlight: this.#parts.inFlight(request.lane) }
    const wrong = this.#takes.sent(request, room, clock.mono())
    if (wrong !== null) this.#parts.witness.say(wrong.replace(']', `] ${member.name}`))
    if (known !== null && limits.isPaused(known, slackMs))
      this.#parts.witness.say(`[L16] ${member.name} takes, and has heard that the pool is paused`)
    limits.takes += 1
    const answered = ({ runs }: Taken): void => {
      limits.takes -= 1
      this.#takes.answered(request.lane, runs.length)
    }
    return seen(call(), answered, () => void (limits.takes -= 1))
  }

  /** Twice as many as a limit of the pool has are taken at most. [L16] */
  #room(known: number | null): { free: number; most: number } {
    const { rules, running, limits } = this.#parts
    const free = rules.concurrency - running.size
    if (known === null) return { free, most: Infinity }
    const twice = (of: (control: Control) => number | null): number => 2 * limits.history.most(known, of)
    const atOnce = twice(({ limits: { pool } }) => pool.concurrency)
    return {
      free,
      most: Math.min(
        atOnce,
        twice(({ limits: { pool } }) => pool.rate?.count ?? null),
      ),
    }
  }
}

/** The same answer, seen just before whoever waits for it: who is watched goes on in the same order as unwatched. */
function seen<Answer>(
  call: Promise<Answer>,
  answered: (answer: Answer) => void,
  failed: () => void = () => undefined,
): Promise<Answer> {
  void call.then(answered, failed)
  return call
}
