// Watches what one worker hands over and releases: nothing of it is under way any more, or it has waited for long enough.
// Rules [X16], [X43] and [X47] of docs/spec/work.md.
import type { Clock } from '../../clock.ts'
import { type Claim, type Held, poolResource } from '../../fence.ts'
import type { Grant } from '../../roster/store.ts'
import type { Store } from '../../store.ts'
import type { Conduct } from './conduct.ts'
import type { Marking } from './job-suspects.ts'
import { JOBS } from './jobs.ts'
import { type Made, whyOf } from './made.ts'

/** Something that a hand-over waits for. */
interface Unfinished extends Held {
  rule: string
  what: string
  /** By the member's monotonic clock. */
  since: number
  /** How long a stop waits for it at least; and from when on, by the same clock, not at all. */
  stopWaitsMs: number
  givenUpAt: number
}

export interface JobHandOverParts {
  clock: Clock
  conduct: Conduct
  drainWithinMs: number
  life: { readonly name: string; readonly leavingAt: number }
  /** Handlers that run, runs whose settle is under way, and marks that are. */
  running: ReadonlySet<Made>
  settling: ReadonlySet<Made>
  marking(): readonly Marking[]
  say(violation: string): void
}

const RESOURCE = poolResource(JOBS)
/** How long a stop waits for the answers to its last settles, and to marks. */
const LAST_CALLS_MS = 1000
/** A handler that has not ended so long after its abort is waited for by no stop. [X18] */
const HEED_WITHIN_MS = 1000

export class JobHandOver {
  readonly #parts: JobHandOverParts
  /** The partitions and epochs that it wanted to release; a store may not answer. */
  readonly #released = new Set<string>()

  constructor(parts: JobHandOverParts) {
    this.#parts = parts
  }

  /** The same store, watched. */
  wrap(store: Store): Store {
    const { roster, fences } = store
    return {
      ...store,
      fences: {
        ...fences,
        release: (resource, claim) => {
          if (resource === RESOURCE) this.#releases(claim)
          return fences.release(resource, claim)
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

  /** What a hand-over that is made now should have waited for. */
  #early(): Unfinished[] {
    const { clock, conduct, drainWithinMs, life } = this.#parts
    const now = clock.mono()
    return this.#unfinished().filter(({ since, stopWaitsMs, givenUpAt, ...held }) => {
      const isGivenUp = now >= Math.max(givenUpAt, life.leavingAt)
      const isStopOver = isGivenUp || now >= Math.max(since, life.leavingAt) + stopWaitsMs
      const isOver = now >= conduct.revokedAt(RESOURCE, held) + drainWithinMs
      return !isStopOver && !isOver
    })
  }

  /** What is waited for. Who was aborted because the partition was lost, or by a stop, is given up. */
  #unfinished(): Unfinished[] {
    const { conduct, running, settling, drainWithinMs } = this.#parts
    const runs = [...running].filter((made) => {
      const why = whyOf(made)
      return why !== 'lost' && why !== 'stop' && !conduct.mayBeLost(JOBS, made.context.fence)
    })
    return [
      ...runs.map((made) => unfinished(made, made.startedAt, drainWithinMs)),
      ...[...settling].map((made) => unfinished(made, made.endedAt, LAST_CALLS_MS)),
      ...this.#parts.marking().map(({ taken: { partition, turn, key }, epoch, sentAt }) => {
        const what = `marks turn ${turn} of ${key}:`
        const waits = { since: sentAt, stopWaitsMs: LAST_CALLS_MS, givenUpAt: Infinity }
        return { partition, epoch, rule: 'X47', what, ...waits }
      }),
    ]
  }

  #handsOver(early: readonly Unfinished[], grants: readonly Grant[]): void {
    const given = grants.filter(({ resource }) => resource === RESOURCE)
    this.#judge(early, { held: given }, 'and its partition is handed over')
    const { conduct, life } = this.#parts
    for (const { partition, epoch } of given)
      if (conduct.wasRaised(RESOURCE, { partition, epoch }) && !this.#released.has(`${partition} ${epoch}`))
        this.#parts.say(`[X43] ${life.name} hands ${partition} over, and has not released its fence`)
  }

  #releases(claim: Claim): void {
    for (const { partition, epoch } of claim.held) this.#released.add(`${partition} ${epoch}`)
    this.#judge(this.#early(), claim, '[X43] and its fence is released')
  }

  #judge(early: readonly Unfinished[], { held }: Pick<Claim, 'held'>, how: string): void {
    for (const { partition, epoch, rule, what } of early) {
      if (!held.some((each) => each.partition === partition && each.epoch === epoch)) continue
      const told = how.startsWith('[') ? how : `[${rule}] ${how}`
      this.#parts.say(told.replace(']', `] ${this.#parts.life.name} ${what}`))
    }
  }
}

function unfinished(
  { taken, epoch, ending, abortedAt }: Made,
  since: number,
  stopWaitsMs: number,
): Unfinished {
  const what = `started turn ${taken.turn} of ${taken.key}:`
  const givenUpAt = ending === null ? abortedAt + HEED_WITHIN_MS : Infinity
  return { partition: taken.partition, epoch, rule: 'X16', what, since, stopWaitsMs, givenUpAt }
}
