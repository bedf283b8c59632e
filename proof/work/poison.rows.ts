// A poison entry that exits the process, beside innocent runs, on a file and on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MOST_CRASHES, type PoisonStore, isPoisonAlone, poison } from '../../test/fault/poison.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import type { ProofRow } from '../row.ts'

const INNOCENTS = 49
const TAKES_MS = 2000
const QUICK_TAKES_MS = 100

type WithStore = <Result>(use: (store: PoisonStore, folder: string) => Promise<Result>) => Promise<Result>

type Read = (sql: string) => Promise<Record<string, unknown>[]>

function reading(read: Read, schema: string): Omit<PoisonStore, 'address'> {
  return {
    live: async () =>
      Number((await read(`select count(*) as live from ${schema}entry where state = 'live'`))[0]?.['live']),
    deaths: async () =>
      (await read(`select key, reason from ${schema}death order by key`)).map(({ key, reason }) => {
        return { key: String(key), reason: String(reason) }
      }),
  }
}

async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-poison-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const onFile: WithStore = (use) =>
  inFolder((folder) => {
    const file = join(folder, 'headrace.db')
    const read: Read = async (sql) => {
      const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
      try {
        return database.prepare(sql).all()
      } finally {
        database.close()
      }
    }
    return use({ address: `sqlite:${file}`, ...reading(read, '') }, folder)
  })

const onPostgres: WithStore = async (use) => {
  const server = await startPostgres(15)
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  try {
    const store = { address: server.url(), ...reading((sql) => server.run(sql), 'headrace.') }
    return await inFolder((folder) => use(store, folder))
  } finally {
    await server.remove()
  }
}

function row(name: string, withStore: WithStore): ProofRow {
  return {
    name: `a poison entry beside ${INNOCENTS} innocent runs in two lanes, on ${name}: who is dead`,
    bar: `the poison alone, after ${MOST_CRASHES} crashes`,
    async run({ quick, progress }) {
      const takesMs = quick ? QUICK_TAKES_MS : TAKES_MS
      const found = await withStore((store, folder) =>
        poison({ store, folder, innocents: INNOCENTS, takesMs, progress }),
      )
      const { crashes, deaths, left, missing, tookMs } = found
      const ended = `${INNOCENTS - missing} of ${INNOCENTS} innocent runs of ${takesMs} ms ended, by their handlers`
      return {
        value: `${deaths.join(', ')} after ${crashes} crashes`,
        holds: isPoisonAlone(found),
        detail: `${ended}; ${left} entries left; took ${Math.round(tookMs / 1000)} s`,
      }
    },
  }
}

export const rows: ProofRow[] = [row('a file', onFile), row('PostgreSQL', onPostgres)]
