// graphile-worker in the race: addJobs, its only call that adds many jobs. Of the job key modes it has replace and
// preserve_run_at; unsafe_dedupe exists for single jobs only.
import { Logger, makeWorkerUtils } from 'graphile-worker'
import { Pool } from 'pg'
import type { Contestant, Item, Kind, Track } from './contestant.ts'

const HOUR_MS = 3_600_000
const SILENT = new Logger(() => () => undefined)

interface Setting {
  name: string
  kind: Kind
  schema: string
  /** The time of the run comes from this process, not from the server. */
  useNodeTime?: boolean
  /** The time of the run is given: in an hour. */
  later?: boolean
  preserveRunAt?: boolean
}

const SETTINGS: Setting[] = [
  { name: 'addJobs, run at the server’s now', kind: 'unkeyed', schema: 'peer_now' },
  {
    name: 'addJobs, run at Node’s now (useNodeTime)',
    kind: 'unkeyed',
    schema: 'peer_node',
    useNodeTime: true,
  },
  { name: 'addJobs, run in an hour (runAt)', kind: 'unkeyed', schema: 'peer_later', later: true },
  { name: 'addJobs, jobKey replace: new time and payload', kind: 'keyed', schema: 'peer_replace' },
  {
    name: 'addJobs, jobKey replace, useNodeTime: new time and payload',
    kind: 'keyed',
    schema: 'peer_replace_node',
    useNodeTime: true,
  },
  {
    name: 'addJobs, jobKey preserve_run_at: new payload',
    kind: 'keyed',
    schema: 'peer_preserve',
    preserveRunAt: true,
  },
]

export function openGraphileTeam(track: Track, kind: Kind): Promise<Contestant>[] {
  return SETTINGS.filter((setting) => setting.kind === kind).map((setting) => open(track, setting))
}

async function open({ url, connections, run }: Track, setting: Setting): Promise<Contestant> {
  const { name, kind, schema, useNodeTime = false, later = false, preserveRunAt = false } = setting
  const pool = new Pool({ connectionString: url, max: connections })
  for (const event of ['error', 'connect'] as const) pool.on(event, () => undefined)
  const utils = await makeWorkerUtils({ pgPool: pool, schema, logger: SILENT, useNodeTime })
  await utils.migrate()
  const runAt = later ? { runAt: new Date(Date.now() + HOUR_MS) } : {}
  return {
    name: `graphile-worker ${name}`,
    side: 'peer',
    kind,
    empty: () => run(`truncate ${schema}._private_jobs`),
    async put(items: readonly Item[]) {
      const jobs = await utils.addJobs(
        items.map(({ key, nth }) => ({
          identifier: 'bench',
          payload: { nth },
          ...runAt,
          ...(kind === 'keyed' ? { jobKey: key } : {}),
        })),
        preserveRunAt,
      )
      if (jobs.length !== items.length) throw new Error(`${name}: ${jobs.length} jobs of ${items.length}`)
    },
    async close() {
      await utils.release()
      await pool.end()
    },
  }
}
