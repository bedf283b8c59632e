// Days of one cluster's life: three members, a crash a day, a tick a second.
import { once } from '../once.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { simulate } from './simulate.ts'

const DAYS = 30
/** Two: the heap after a day is compared with that after the first. */
const QUICK_DAYS = 2
const MOST_MINUTES = 20
const LEAST_TICKS = 2_590_000
const MOST_GROWTH = 1.25

/** What `npm run simulate -- --days N --json` prints. */
interface Days {
  days: number
  seed: number
  ticks: number
  lost: number
  early: number
  twice: number
  phantom: number
  unanswered: number
  crashes: number
  minutes: number
  /** After a collection, at the end of the first day, of the last, and of the one when it was largest. */
  heapFirstMb: number
  heapLastMb: number
  heapMaxMb: number
}

const days = once(({ quick, progress }: ProofContext) =>
  simulate<Days>(quick ? ['--days', QUICK_DAYS, '--seed', 1] : ['--days', DAYS], progress),
)

function row(name: string, bar: string, judge: (days: Days) => ProofResult): ProofRow {
  return {
    name: `${DAYS} days of a cluster’s life: ${name}`,
    bar,
    run: async (context) => judge(await days(context)),
  }
}

export const rows: ProofRow[] = [
  row('ticks lost, early, twice, unasked or unanswered', '0', (lived) => {
    const { lost, early, twice, phantom, unanswered, ticks, crashes } = lived
    const leastTicks = (LEAST_TICKS * lived.days) / DAYS
    return {
      value:
        `${lost} lost, ${early} early, ${twice} twice, ${phantom} unasked, ${unanswered} unanswered ` +
        `of ${ticks.toLocaleString('en')} in ${lived.days} days`,
      holds:
        lost + early + twice + phantom + unanswered === 0 && crashes >= lived.days && ticks >= leastTicks,
      detail: `${crashes} crashes, seed ${lived.seed}`,
    }
  }),
  row('largest heap after a day, times that after the first', `≤ ${MOST_GROWTH} ×`, (lived) => ({
    value: `${(lived.heapMaxMb / lived.heapFirstMb).toFixed(2)} ×`,
    holds: lived.days > 1 && lived.heapMaxMb <= MOST_GROWTH * lived.heapFirstMb,
    detail: `${lived.heapFirstMb} MB, at the end ${lived.heapLastMb} MB, at most ${lived.heapMaxMb} MB`,
  })),
  {
    ...row('minutes', `≤ ${MOST_MINUTES} for ${DAYS}`, ({ minutes, days: lived }) => ({
      value: `${minutes} for ${lived}`,
      holds: minutes <= MOST_MINUTES,
    })),
    speed: true,
  },
]
