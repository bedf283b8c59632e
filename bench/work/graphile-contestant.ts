// graphile-worker in the races of work, with its local queue, and with jobs completed in batches without a delay.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import type { Contestant, Item, Place } from './contestant.ts'

const SILENT = new Logger(() => () => undefined)
const CONNECTIONS = 10

interface Settings {
  localQueue: number
  concurrency: number
  pollMs: number
}

export async function openGraphileContestant(
  { localQueue, concurrency, pollMs }: Settings,
  { address, schema }: Place,
): Promise<Contestant> {
  const pgPool = new Pool({ connectionString: address, max: CONNECTIONS })
  for (const event of ['error', 'connect'] as const) pgPool.on(event, () => undefined)
  const utils = await makeWorkerUtils({ pgPool, schema, logger: SILENT })
  await utils.migrate()
  let stopWork = async (): Promise<void> => undefined
  return {
    async add(items: readonly Item[]) {
      await utils.addJobs(
        items.map(({ dueAt }) => ({
          identifier: 'bench',
          payload: { at: dueAt },
          ...(dueAt !== null && { runAt: new Date(dueAt) }),
        })),
      )
    },
    async start(started) {
      const bench = async (payload: unknown): Promise<void> => started((payload as { at: number | null }).at)
      const worker = { localQueue: { size: localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
      const runner = await run({
        pgPool,
        schema,
        logger: SILENT,
        concurrency,
        pollInterval: pollMs,
        noHandleSignals: true,
        taskList: { bench },
        preset: { worker },
      })
      stopWork = () => runner.stop()
    },
    async left() {
      const { rows } = await pgPool.query(`select count(*)::integer as left from ${schema}._private_jobs`)
      return rows[0].left as number
    },
    async stop() {
      await stopWork()
      await utils.release()
      await pgPool.end()
    },
  }
}
