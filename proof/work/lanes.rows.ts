// Floods of one lane do not keep another waiting: handlers of 10 ms, 10 at once, on PostgreSQL and on a file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WEIGHTS } from '../../src/pool/lanes.ts'
import { type Shared, type Started, floodWithBulk, floodWithFanout } from '../../test/fault/race-lanes.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { once } from '../once.ts'
import { type ProofContext, type ProofRow, onlyInFull } from '../row.ts'

const FLOOD = 100_000
const WITHIN_MS = 1000
/** Half of what it gets beside `fanout` alone. */
const SHARE = WEIGHTS.bulk / (WEIGHTS.bulk + WEIGHTS.fanout) / 2

/** Opens two stores, one for each flood. */
type WithStores = <Result>(use: (stores: [string, string]) => Promise<Result>) => Promise<Result>

const onPostgres: WithStores = async (use) => {
  const server = await startPostgres(15)
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  try {
    return await use([server.url({ schema: 'first' }), server.url({ schema: 'second' })])
  } finally {
    await server.remove()
  }
}

const onFile: WithStores = async (use) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-lanes-'))
  try {
    return await use([`sqlite:${join(folder, 'first.db')}`, `sqlite:${join(folder, 'second.db')}`])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Measured {
  flood: number
  bulk: Started
  fanout: Shared
}

async function measure(
  [first, second]: [string, string],
  { quick, progress }: ProofContext,
): Promise<Measured> {
  const flood = quick ? FLOOD / 10 : FLOOD
  const entries = quick ? 10 : 100
  const forMs = quick ? 5000 : 30_000
  const bulk = await floodWithBulk({ store: first, flood, entries, progress })
  return { flood, bulk, fanout: await floodWithFanout({ store: second, flood, bulk: flood / 5, forMs }) }
}

function rowsOf(name: string, withStores: WithStores): ProofRow[] {
  const measured = once((context) => withStores((stores) => measure(stores, context)))
  return [
    {
      name: `${name}, a flood of bulk, handlers of 10 ms, 10 at once: an entry of fanout starts, at the latest`,
      bar: `within ${WITHIN_MS} ms of its put`,
      speed: true,
      async run(context) {
        const { flood, bulk } = await measured(context)
        const { afterMs, left, perSecond } = bulk
        const latest = Math.max(...afterMs)
        return {
          value: `${latest} ms`,
          holds: afterMs.length > 0 && latest <= WITHIN_MS && left > 0,
          detail: `${afterMs.length} entries, ${flood} in bulk, of which ${left} were left; ${perSecond} runs/s`,
        }
      },
    },
    {
      name: `${name}, a flood of fanout: of all runs bulk gets, in the worst second`,
      bar: `≥ ${(SHARE * 100).toFixed(1)} %, half its weight`,
      async run(context) {
        const { flood, fanout } = await measured(context)
        const { shares, seconds, left, perSecond } = fanout
        const worst = Math.min(...shares)
        return {
          value: `${(worst * 100).toFixed(1)} %`,
          holds: shares.length * 2 > seconds && worst >= SHARE && left > 0,
          detail: `${shares.length} of ${seconds} seconds with enough runs, ${flood} in fanout, ${left} left in both; ${perSecond} runs/s`,
        }
      },
    },
  ]
}

export const rows: ProofRow[] = [...rowsOf('PostgreSQL', onPostgres), ...onlyInFull(rowsOf('SQLite', onFile))]
