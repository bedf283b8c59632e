// Limits over three members, with kills: never exceeded, and used when nobody is killed. A witness on a PostgreSQL server
// sees the runs, whatever the store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AT_ONCE, type LimitsVerdict, STARTS, raceLimits } from '../../test/fault/race-limits.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { once } from '../once.ts'
import { type ProofContext, type ProofRow, onlyInFull } from '../row.ts'

const USED = 0.9
/** A second is counted as shorter by twice the precision: with worse times a breach could pass. */
const PRECISE_MS = 5

async function run(
  store: 'PostgreSQL' | 'SQLite',
  { quick, progress }: ProofContext,
): Promise<LimitsVerdict> {
  const witness = await startPostgres(15)
  if (witness === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-limits-'))
  try {
    const seed = Math.floor(performance.timeOrigin) % 1_000_000
    const address = store === 'SQLite' ? `sqlite:${join(folder, 'headrace.db')}` : witness.url()
    // A short lease makes kills short. Where other work keeps the cores busy it makes members doubt, too.
    const load = quick
      ? { kills: 1, aloneMs: 2000, leaseMs: 1000 }
      : { kills: 20, aloneMs: 60_000, leaseMs: 3000 }
    return await raceLimits({ store: address, witness, ...load, seed, progress })
  } finally {
    await witness.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowsOf(store: 'PostgreSQL' | 'SQLite'): ProofRow[] {
  const raced = once((context) => run(store, context))
  const row = (
    what: string,
    bar: string,
    judge: (verdict: LimitsVerdict) => { value: string; holds: boolean },
  ): ProofRow => ({
    name: `${store}, three members, ${AT_ONCE} at once of a group, ${STARTS}/s in all: ${what}`,
    bar,
    async run(context) {
      const verdict = await raced(context)
      const { seed, runs, kills, stops, precisionMs } = verdict
      const detail = `seed ${seed}: ${runs} runs, ${kills} kills, ${stops} stops; times to ± ${precisionMs.toFixed(2)} ms`
      return { ...judge(verdict), detail }
    },
  })
  return [
    row(
      'the most starts in any second, with kills',
      `≤ ${STARTS}, times to ± ${PRECISE_MS} ms`,
      ({ mostStarts, precisionMs }) => ({
        value: `${mostStarts}, ± ${precisionMs.toFixed(2)} ms`,
        holds: mostStarts > 0 && mostStarts <= STARTS && precisionMs <= PRECISE_MS,
      }),
    ),
    row('the most runs of a group at once, with kills', `≤ ${AT_ONCE}`, ({ mostAtOnce }) => ({
      value: String(mostAtOnce),
      holds: mostAtOnce > 0 && mostAtOnce <= AT_ONCE,
    })),
    {
      ...row('starts where only the rate binds, without kills', `≥ ${USED * 100} %`, (verdict) => {
        const used = verdict.startsPerSecond / STARTS
        return { value: `${(used * 100).toFixed(1)} %`, holds: used >= USED }
      }),
      speed: true,
    },
    {
      ...row('runs at once where only the group binds, without kills', `≥ ${USED * 100} %`, (verdict) => {
        const used = verdict.atOnce / AT_ONCE
        return { value: `${(used * 100).toFixed(1)} %`, holds: used >= USED }
      }),
      speed: true,
    },
  ]
}

export const rows: ProofRow[] = [...rowsOf('PostgreSQL'), ...onlyInFull(rowsOf('SQLite'))]
