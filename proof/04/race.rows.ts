// The race of seed 002: 64 producers and 8 processes that work, on 100 keys, with SIGKILLs.
import {
  type RaceStore,
  type RaceVerdict,
  openRaceFile,
  openRacePostgres,
  racePool,
} from '../../test/fault/race-pool.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofRow } from '../row.ts'

const KILLS = 60
const QUICK_KILLS = 6

async function run(open: () => Promise<RaceStore>, { quick, progress }: ProofContext) {
  const store = await open()
  const seed = Math.floor(performance.timeOrigin) % 1_000_000
  const kills = quick ? QUICK_KILLS : KILLS
  try {
    const verdict = await racePool(store, { kills, seed, producers: 64, drainers: 8, keys: 100, progress })
    return { ...verdict, kills }
  } finally {
    await store.remove()
  }
}

function rowsOf(name: string, open: () => Promise<RaceStore>): ProofRow[] {
  const raced = once((context) => run(open, context))
  const row = (
    what: string,
    bar: string,
    judge: (verdict: RaceVerdict & { kills: number }) => { value: string; holds: boolean },
  ): ProofRow => ({
    name: `${name}, 64 producers, 8 processes that work, 100 keys, SIGKILLs: ${what}`,
    bar,
    async run(context) {
      const verdict = await raced(context)
      const { seed, kills, puts, settled, wrong, stuck } = verdict
      const numbers = `seed ${seed}: ${kills} kills, ${puts} puts, ${settled} runs settled`
      return { ...judge(verdict), detail: [numbers, ...wrong.slice(0, 3), ...stuck.slice(0, 3)].join('; ') }
    },
  })
  return [
    row('keys stuck', '0', ({ stuck, kills }) => ({
      value: `${stuck.length} in ${kills} kills`,
      holds: stuck.length === 0,
    })),
    row('keys whose puts are not those that settled runs saw [P4]', '0', ({ wrong, puts }) => ({
      value: `${wrong.length} of ${puts} puts`,
      holds: wrong.length === 0,
    })),
    row('runs settled per put', '≤ 1', ({ settled, puts }) => ({
      value: (settled / puts).toFixed(3),
      holds: settled > 200 && settled <= puts,
    })),
  ]
}

export const rows: ProofRow[] = [
  ...rowsOf('PostgreSQL', openRacePostgres),
  ...rowsOf('SQLite', async () => openRaceFile()),
]
