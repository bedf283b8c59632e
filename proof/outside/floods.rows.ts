// Floods of requests on a server that does 2,000 runs a second: what it costs the work, on a file and on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Flooded, floodServer } from '../../test/fault/flood-server.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { once } from '../once.ts'
import type { ProofContext, ProofRow } from '../row.ts'

const RATE = 2000
const QUICK_PART = 0.1
const MOST_RSS_MIB = 150
const MOST_LATENESS_MS = 250

async function onFile({ quick, progress }: ProofContext): Promise<Flooded[]> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-flood-'))
  try {
    const store = `sqlite:${join(folder, 'headrace.db')}`
    return await floodServer({ store, rate: RATE, part: quick ? QUICK_PART : 1, progress })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgres({ quick, progress }: ProofContext): Promise<Flooded[]> {
  const server = await startPostgres(15)
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  try {
    return await floodServer({ store: server.url(), rate: RATE, part: quick ? QUICK_PART : 1, progress })
  } finally {
    await server.remove()
  }
}

function detailOf(floods: readonly Flooded[]): string {
  return floods
    .map(
      ({ flood, answers, runsPerSecond, latenessP99Ms, rssGrewMib }) =>
        `${flood}: ${answers}; ${runsPerSecond} runs/s, p99 ${latenessP99Ms} ms, + ${rssGrewMib} MiB`,
    )
    .join(' · ')
}

function rowsOf(store: string, run: (context: ProofContext) => Promise<Flooded[]>): ProofRow[] {
  const floods = once(run)
  const load = `six floods under ${RATE} runs/s on ${store}`
  const worst = async (context: ProofContext, name: 'lost' | 'rssGrewMib' | 'latenessP99Ms') => {
    const found = await floods(context)
    return { found, value: Math.max(...found.map((flood) => flood[name])) }
  }
  return [
    {
      name: `${load}: leases lost`,
      bar: '0',
      async run(context) {
        const { found, value } = await worst(context, 'lost')
        return { value, holds: value === 0, detail: detailOf(found) }
      },
    },
    {
      name: `${load}: memory that the worst one costs`,
      bar: `≤ ${MOST_RSS_MIB} MiB`,
      speed: true,
      async run(context) {
        const { value } = await worst(context, 'rssGrewMib')
        return { value: `${value} MiB`, holds: value <= MOST_RSS_MIB }
      },
    },
    {
      name: `${load}: lateness of runs during the worst one, p99`,
      bar: `≤ ${MOST_LATENESS_MS} ms`,
      speed: true,
      async run(context) {
        const { value } = await worst(context, 'latenessP99Ms')
        return { value: `${value} ms`, holds: value <= MOST_LATENESS_MS }
      },
    },
  ]
}

export const rows: ProofRow[] = [...rowsOf('SQLite', onFile), ...rowsOf('PostgreSQL 15', onPostgres)]
