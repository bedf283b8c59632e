// The race of seed 002: 64 producers and 8 processes that work, on 100 keys, with SIGKILLs.
import { racePool } from '../../test/fault/race-pool.ts'
import type { RaceVerdict } from '../../test/fault/race-record.ts'
import { type RaceStore, openRaceFile, openRacePostgres } from '../../test/fault/race-stores.ts'
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
      const { seed, kills, puts, done, dead, wrong, stuck } = verdict
      const numbers = `seed ${seed}: ${kills} kills, ${puts} puts, ${done} runs done, ${dead} dead`
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
    row('runs settled, as done or as dead, per put', '≤ 1', ({ done, dead, puts }) => ({
      value: ((done + dead) / puts).toFixed(3),
      // Of each some: else one of the two ways was not raced.
      holds: done > 50 && dead > 50 && done + dead <= puts,
    })),
  ]
}

export const rows: ProofRow[] = [
  ...rowsOf('PostgreSQL', openRacePostgres),
  ...rowsOf('SQLite', async () => openRaceFile()),
]
