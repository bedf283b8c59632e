// A poison entry that exits the process, beside innocent runs, on a file and on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MOST_CRASHES, type Poisoned, isPoisonAlone, poison } from '../../test/fault/poison.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import type { ProofContext, ProofRow } from '../row.ts'

const INNOCENTS = 49
const TAKES_MS = 2000
const QUICK_TAKES_MS = 100

function row(name: string, run: (context: ProofContext, takesMs: number) => Promise<Poisoned>): ProofRow {
  return {
    name: `a poison entry beside ${INNOCENTS} innocent runs in two lanes, on ${name}: who is dead`,
    bar: `the poison alone, after ${MOST_CRASHES} crashes`,
    async run(context) {
      const takesMs = context.quick ? QUICK_TAKES_MS : TAKES_MS
      const found = await run(context, takesMs)
      const { crashes, deaths, left, tookMs } = found
      return {
        value: `${deaths.join(', ')} after ${crashes} crashes`,
        holds: isPoisonAlone(found),
        detail: `innocent runs of ${takesMs} ms, ${left} left; took ${Math.round(tookMs / 1000)} s`,
      }
    },
  }
}

export const rows: ProofRow[] = [
  row('a file', async ({ progress }, takesMs) => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-poison-'))
    try {
      const store = `sqlite:${join(folder, 'headrace.db')}`
      return await poison({ store, innocents: INNOCENTS, takesMs, progress })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }),
  row('PostgreSQL', async ({ progress }, takesMs) => {
    const server = await startPostgres(15)
    if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
    try {
      return await poison({ store: server.url(), innocents: INNOCENTS, takesMs, progress })
    } finally {
      await server.remove()
    }
  }),
]
