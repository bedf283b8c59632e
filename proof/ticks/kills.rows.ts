// SIGKILL at random moments under load: what was acknowledged is kept, and fires once, in time.
import { type KilledUnderLoad, killUnderLoad } from '../../test/fault/kill-under-load.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'
import { once } from '../once.ts'

const KILLS = 50
const QUICK_KILLS = 5

const run = once(({ quick, progress }) => killUnderLoad(quick ? QUICK_KILLS : KILLS, progress))

/** A row that holds when the run has none of these findings. */
function none(name: string, findings: (run: KilledUnderLoad) => string[]): ProofRow {
  return {
    name: `SIGKILL under load: ${name}`,
    bar: '0',
    async run(context: ProofContext): Promise<ProofResult> {
      const result = await run(context)
      const found = findings(result)
      const value = `${found.length} in ${result.kills.length} kills`
      return { value, holds: found.length === 0, detail: detailOf(result, found) }
    },
  }
}

function detailOf({ seed, posted, acknowledged, events }: KilledUnderLoad, found: string[]): string {
  const numbers = `seed ${seed}: ${posted} posts, ${acknowledged} acknowledged, ${events} events`
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
      const value = `${least}, the least of ${kills.length} kills`
      return { value, holds: least >= 50, detail: `never answered, per kill: ${unanswered}` }
    },
  },
  none('acknowledged ticks lost', ({ findings }) => findings.lost),
  none('ticks early', ({ findings }) => findings.early),
  none('event ids twice', ({ findings }) => findings.twice),
  none('partitions whose offsets are not contiguous', ({ findings }) => findings.gaps),
  none('events that nobody posted, ticks stuck', ({ findings }) => [...findings.phantom, ...findings.stuck]),
]
