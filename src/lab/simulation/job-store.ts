// A store whose calls on the pool of jobs go through whoever watches them; all others go straight to it.
import { type Claim, type NewClaim, type Raised, poolResource } from '../../fence.ts'
import type { Entry } from '../../pool/entry.ts'
import type { Settlement } from '../../pool/settle.ts'
import type {
  CancelAnswer,
  Mark,
  MarkAnswer,
  SettleAnswer,
  Taken,
  TakeRequest,
  ToldProgress,
} from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import { JOBS } from './jobs.ts'

export interface JobWatch {
  raised(claim: NewClaim, answers: readonly Raised[]): void
  take(request: TakeRequest): Promise<Taken>
  settle(settlements: Settlement[], claim: Claim): Promise<SettleAnswer[]>
  mark(marks: Mark[], claim: Claim): Promise<MarkAnswer[]>
  cancel(name: { key: string; slot?: number | null }): Promise<CancelAnswer>
  get(name: { key: string; slot: number | null }): Promise<Entry | null>
  tells(told: readonly ToldProgress[], claim: Claim): void
}

export function watchJobs(store: Store, watch: JobWatch): Store {
  const { fences } = store
  const { entries, progress, browse } = store.pool
  return {
    ...store,
    fences: {
      ...fences,
      raise: async (resource, claim) => {
        const answers = await fences.raise(resource, claim)
        if (resource === poolResource(JOBS)) watch.raised(claim, answers)
        return answers
      },
    },
    pool: {
      ...store.pool,
      entries: {
        ...entries,
        take: (pool, request) => (pool === JOBS ? watch.take(request) : entries.take(pool, request)),
        settle: (pool, settlements, claim) =>
          pool === JOBS ? watch.settle(settlements, claim) : entries.settle(pool, settlements, claim),
        mark: (pool, marks, claim) =>
          pool === JOBS ? watch.mark(marks, claim) : entries.mark(pool, marks, claim),
        cancel: (pool, name) => (pool === JOBS ? watch.cancel(name) : entries.cancel(pool, name)),
      },
      browse: {
        ...browse,
        get: (pool, name) => (pool === JOBS ? watch.get(name) : browse.get(pool, name)),
      },
      progress: {
        ...progress,
        tell: (pool, told, claim) => {
          watch.tells(told, claim)
          return progress.tell(pool, told, claim)
        },
      },
    },
  }
}
