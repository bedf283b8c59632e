// Days of one cluster's life: three members, a crash a day, a tick a second.
import { once } from '../once.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { simulate } from './simulate.ts'

const DAYS = 30
const MOST_MINUTES = 20
const LEAST_TICKS = 2_590_000
const MOST_GROWTH = 1.25

/** What `npm run simulate -- --days N --json` prints. */
interface Days {
  days: number
  ticks: number
  lost: number
  early: number
  twice: number
  crashes: number
  minutes: number
  /** After a collection, at the end of the first day and of the last. */
  heapFirstMb: number
  heapLastMb: number
  heapMaxMb: number
}

const days = once(({ quick, progress }: ProofContext) =>
  simulate<Days>(['--days', quick ? 1 : DAYS], progress),
)

function row(name: string, bar: string, judge: (days: Days, quick: boolean) => ProofResult): ProofRow {
  return {
    name: `${DAYS} days of a cluster’s life: ${name}`,
    bar,
    run: async (context) => judge(await days(context), context.quick),
  }
}

export const rows: ProofRow[] = [
  row('ticks lost, early or twice', '0', ({ lost, early, twice, ticks, crashes, days: lived }, quick) => ({
    value: `${lost} lost, ${early} early, ${twice} twice of ${ticks.toLocaleString('en')} in ${lived} days`,
    holds:
      lost + early + twice === 0 &&
      crashes >= lived - 1 &&
      ticks >= (quick ? LEAST_TICKS / DAYS : LEAST_TICKS),
    detail: `${crashes} crashes`,
  })),
  row('heap after the last day, times that after the first', `≤ ${MOST_GROWTH} ×`, (lived) => ({
    value: `${(lived.heapLastMb / lived.heapFirstMb).toFixed(2)} ×`,
    holds: lived.heapLastMb <= MOST_GROWTH * lived.heapFirstMb,
    detail: `${lived.heapFirstMb} MB, then ${lived.heapLastMb} MB, at most ${lived.heapMaxMb} MB`,
  })),
  {
    ...row('minutes', `≤ ${MOST_MINUTES} for ${DAYS}`, ({ minutes, days: lived }) => ({
      value: `${minutes} for ${lived}`,
      holds: minutes <= MOST_MINUTES,
    })),
    speed: true,
  },
]
