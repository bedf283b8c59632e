// A user's own transaction that put and appended, open for a minute under the load of three members.
import { type Compared, openTransaction } from '../../test/fault/open-transaction.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { describe, isRight } from './verdict.ts'

const MOST_TIMES = 2

const open = once(({ quick, progress }: ProofContext) =>
  openTransaction({ openMs: quick ? 6000 : 60_000, besideMs: quick ? 3000 : 30_000, progress }),
)

function compare(compared: Compared, what: string): ProofResult {
  const times = compared.with / Math.max(compared.without, 1)
  const [during, without, before, after] = (['with', 'without', 'before', 'after'] as const).map((when) =>
    compared[when].toFixed(1),
  )
  return {
    value: `${times.toFixed(2)} ×`,
    holds: times <= MOST_TIMES,
    detail: `${what}: p99 ${during} ms with it, ${without} ms without (${before} before it, ${after} after it)`,
  }
}

export const rows: ProofRow[] = [
  {
    name: 'a user’s open transaction: from a post to its answer, p99, times that without it',
    bar: `≤ ${MOST_TIMES} ×`,
    speed: true,
    run: async (context) => compare((await open(context)).answers, 'from a post to its answer'),
  },
  {
    name: 'a user’s open transaction: lateness of ticks, p99, times that without it',
    bar: `≤ ${MOST_TIMES} ×`,
    speed: true,
    run: async (context) => compare((await open(context)).lateness, 'from due to the event'),
  },
  {
    name: 'a user’s open transaction: its put and append, seen before its commit, run after it',
    bar: '0 before, 2 after',
    async run(context) {
      const verdict = await open(context)
      const { seenBefore, ownEvents, ranAfterMs } = verdict
      return {
        value: `${seenBefore} before, ${ownEvents} after`,
        holds: seenBefore === 0 && ownEvents === 2 && isRight(verdict),
        detail: `run ${ranAfterMs} ms after the commit; ${describe(verdict)}`,
      }
    },
  },
]
