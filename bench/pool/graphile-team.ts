// graphile-worker in the race: addJobs, its only call that adds many jobs. Of the job key modes it has replace and
// preserve_run_at; unsafe_dedupe exists for single jobs only.
import { Logger, makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import pg from 'pg'
import type { Contestant, Item, Kind, Team, Track } from './contestant.ts'

const HOUR_MS = 3_600_000
const SILENT = new Logger(() => () => undefined)

interface Setting {
  name: string
  kind: Kind
  /** The time of the run comes from this process, not from the server. */
  useNodeTime?: boolean
  /** The time of the run is given: in an hour. */
  later?: boolean
  preserveRunAt?: boolean
}

const SETTINGS: Setting[] = [
  { name: 'addJobs, run at the server’s now', kind: 'unkeyed' },
  { name: 'addJobs, run at Node’s now (useNodeTime)', kind: 'unkeyed', useNodeTime: true },
  { name: 'addJobs, run in an hour (runAt)', kind: 'unkeyed', later: true },
  { name: 'addJobs, jobKey replace: new time and payload', kind: 'keyed' },
  { name: 'addJobs, jobKey replace, useNodeTime', kind: 'keyed', useNodeTime: true },
  { name: 'addJobs, jobKey preserve_run_at: new payload', kind: 'keyed', preserveRunAt: true },
]

export async function openGraphileTeam({ url, connections, run }: Track): Promise<Team> {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const open = (useNodeTime: boolean): Promise<WorkerUtils> =>
    makeWorkerUtils({ pgPool: pool, logger: SILENT, useNodeTime })
  const [plain, nodeTime] = [await open(false), await open(true)]
  await plain.migrate()
  const empty = (): Promise<void> => run('truncate graphile_worker._private_jobs')
  return {
    contestants: SETTINGS.map((setting) =>
      contestantOf(setting.useNodeTime === true ? nodeTime : plain, setting, empty),
    ),
    async close() {
      for (const utils of [plain, nodeTime]) await utils.release()
      await pool.end()
    },
  }
}

function contestantOf(utils: WorkerUtils, setting: Setting, empty: Contestant['empty']): Contestant {
  const { name, kind, later = false, preserveRunAt = false } = setting
  const runAt = later ? { runAt: new Date(Date.now() + HOUR_MS) } : {}
  return {
    name: `graphile-worker ${name}`,
    side: 'peer',
    kind,
    empty,
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
  }
}
