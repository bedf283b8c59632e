// SIGKILL at random moments under load: what was acknowledged is kept, and fires once, in time.
import { type KilledUnderLoad, killUnderLoad } from '../../test/fault/kill-under-load.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { once } from './once.ts'

const KILLS = 50
const QUICK_KILLS = 5

const run = once(({ quick, progress }) => killUnderLoad(quick ? QUICK_KILLS : KILLS, progress))

/** A row that holds when the run has none of these findings. */
function none(name: string, bar: string, findings: (run: KilledUnderLoad) => string[]): ProofRow {
  return {
    name: `SIGKILL under load: ${name}`,
    bar,
    async run(context: ProofContext): Promise<ProofResult> {
      const result = await run(context)
      const found = findings(result)
      return { value: found.length, holds: found.length === 0, detail: detailOf(result, found) }
    },
  }
}

function detailOf({ seed, posted, acknowledged, events, kills }: KilledUnderLoad, found: string[]): string {
  const numbers = `seed ${seed}: ${kills.length} kills, ${posted} posts, ${acknowledged} acknowledged, ${events} events`
  return found.length === 0 ? numbers : `${numbers}; ${found.slice(0, 5).join(', ')}`
}

export const rows: ProofRow[] = [
  {
    name: 'SIGKILL under load: requests in flight at each kill',
    bar: '≥ 50',
    async run(context) {
      const { kills } = await run(context)
      const least = Math.min(...kills.map(({ inFlight }) => inFlight))
      const unanswered = kills.map((kill) => kill.unanswered).join(' ')
      return { value: least, holds: least >= 50, detail: `never answered, per kill: ${unanswered}` }
    },
  },
  none('acknowledged ticks lost', `0 in ${KILLS} kills`, ({ findings }) => findings.lost),
  none('ticks early', `0 in ${KILLS} kills`, ({ findings }) => findings.early),
  none('event ids twice', `0 in ${KILLS} kills`, ({ findings }) => findings.twice),
  none('partitions whose offsets are not contiguous', `0 in ${KILLS} kills`, ({ findings }) => findings.gaps),
  none('events that nobody posted, ticks stuck', `0 in ${KILLS} kills`, ({ findings }) => [
    ...findings.phantom,
    ...findings.stuck,
  ]),
]
