// Hostile requests to every route of a real server, on a file and on PostgreSQL, by a seed that is drawn for each proof.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FUZZ_TOKEN, type Fuzzed, fuzz } from '../../test/fault/fuzz-routes.ts'
import { ServerProcess } from '../../test/fault/server-process.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import type { ProofContext, ProofResult, ProofRow } from '../row.ts'

const REQUESTS = 6000
const QUICK_REQUESTS = 500
const PASSWORD = 'planted-password-of-the-store'

type Use = (address: string) => Promise<Fuzzed>
type WithStore = (use: Use) => Promise<Fuzzed>

const onFile: WithStore = async (use) => {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-fuzz-'))
  try {
    return await use(`sqlite:${join(folder, 'headrace.db')}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const onPostgres: WithStore = async (use) => {
  const server = await startPostgres(15)
  if (server === null) throw new Error('PostgreSQL 15 is not here: npm run provision installs it')
  try {
    const address = new URL(server.url())
    address.password = PASSWORD
    return await use(address.href)
  } finally {
    await server.remove()
  }
}

async function run(withStore: WithStore, { quick, progress }: ProofContext): Promise<ProofResult> {
  const seed = Math.floor(Math.random() * 2 ** 31)
  progress(`seed ${seed}`)
  const { requests, byStatus, failures } = await withStore(async (store) => {
    await using server = await ServerProcess.start({ store, env: { HEADRACE_TOKEN: FUZZ_TOKEN } })
    const secrets = [FUZZ_TOKEN, PASSWORD]
    return await fuzz(server, { seed, requests: quick ? QUICK_REQUESTS : REQUESTS, secrets })
  })
  const detail = `seed ${seed}, ${requests} requests, ${JSON.stringify(byStatus)}`
  const first = failures.length === 0 ? '' : `; the first: ${failures[0]}`
  return { value: failures.length, holds: failures.length === 0, detail: detail + first }
}

export const rows: ProofRow[] = [['a file', onFile] as const, ['PostgreSQL', onPostgres] as const].map(
  ([store, withStore]) => ({
    name: `hostile requests to every route, on ${store}`,
    bar: '0 answers 5xx, 0 secrets',
    run: (context: ProofContext) => run(withStore, context),
  }),
)
