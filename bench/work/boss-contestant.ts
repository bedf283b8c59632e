// pg-boss in the races of work: batches, one after another without a pause as long as they are full.
import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import type { Contestant, Item, Place } from './contestant.ts'

const QUEUE = 'bench'
/** The shortest that it allows. */
const POLL_SECONDS = 0.5

export async function openBossContestant(
  { batch }: { batch: number },
  { address, schema }: Place,
): Promise<Contestant> {
  const boss = new PgBoss({ connectionString: address, schema, supervise: false, schedule: false })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue(QUEUE)
  const reader = new Pool({ connectionString: address, max: 1 })
  return {
    async add(items: readonly Item[]) {
      await boss.insert(
        QUEUE,
        items.map(({ dueAt }) => ({
          data: { at: dueAt },
          ...(dueAt !== null && { startAfter: new Date(dueAt) }),
        })),
      )
    },
    async start(started) {
      const options = {
        batchSize: batch,
        pollingIntervalSeconds: POLL_SECONDS,
        burstWhenBatchFull: true,
      }
      await boss.work<{ at: number | null }>(QUEUE, options, async (jobs) => {
        for (const { data } of jobs) started(data.at)
      })
    },
    async left() {
      const states = `state in ('created', 'retry', 'active')`
      const { rows } = await reader.query(
        `select count(*)::integer as left from ${schema}.job where ${states}`,
      )
      return rows[0].left as number
    },
    async stop() {
      await boss.stop({ graceful: false })
      await reader.end()
    },
  }
}
