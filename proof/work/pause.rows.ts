// A pause outlives everything: all processes are killed, and the store's server is restarted.
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PausedStore, type RestartedPaused, restartPaused } from '../../test/fault/restart-paused.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { once } from '../once.ts'
import { type ProofContext, type ProofRow, onlyInFull } from '../row.ts'

const LIVE = `select count(*) as live from TABLE where state = 'live'`
const PAUSE = 'paused by ann: a move'

type WithStore = <Result>(use: (store: PausedStore, folder: string) => Promise<Result>) => Promise<Result>

const onPostgres: WithStore = async (use) => {
  const server = await startPostgres(15)
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-paused-'))
  const store: PausedStore = {
    address: server.url(),
    restart: async () => {
      await server.stop()
      await server.start()
    },
    live: async () => Number((await server.run(LIVE.replace('TABLE', 'headrace.entry')))[0]?.['live']),
  }
  try {
    return await use(store, folder)
  } finally {
    await server.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

const onFile: WithStore = async (use) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-paused-'))
  const file = join(folder, 'headrace.db')
  const live = async (): Promise<number> => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
    try {
      return Number(database.prepare(LIVE.replace('TABLE', 'entry')).get()?.['live'])
    } finally {
      database.close()
    }
  }
  try {
    return await use({ address: `sqlite:${file}`, restart: async () => undefined, live }, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowsOf(name: string, withStore: WithStore): ProofRow[] {
  const run = once(({ quick, progress }: ProofContext) => {
    const load = quick ? { keys: 100, restarts: 1 } : { keys: 1000, restarts: 5 }
    return withStore((store, folder) => restartPaused({ store, folder, ...load, progress }))
  })
  const row = (
    what: string,
    bar: string,
    judge: (found: RestartedPaused) => { value: string | number; holds: boolean },
  ): ProofRow => ({
    name: `${name}, a paused pool, everything killed and started again: ${what}`,
    bar,
    async run(context) {
      const found = await run(context)
      const { before, after, beside, why } = found
      const detail = `${before} runs before the pause, ${after} after it, ${beside} of another pool meanwhile; ${why.length / 2} restarts`
      return { ...judge(found), detail }
    },
  })
  return [
    row('runs that start', '0', ({ during, beside }) => ({
      value: during,
      holds: during === 0 && beside > 0,
    })),
    row('what `why` says, over HTTP and on the command line', PAUSE, ({ why }) => ({
      value: [...new Set(why)].join(', '),
      holds: why.length >= 2 && why.every((told) => told === PAUSE),
    })),
    row('after `resume`, keys that did not run, and entries left', '0, 0', ({ missing, left, after }) => ({
      value: `${missing}, ${left}`,
      holds: missing === 0 && left === 0 && after > 0,
    })),
  ]
}

export const rows: ProofRow[] = [...rowsOf('PostgreSQL', onPostgres), ...onlyInFull(rowsOf('SQLite', onFile))]
