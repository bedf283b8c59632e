// BullMQ in the races of work: delayed jobs in a Redis of its own, done jobs removed.
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import type { Contestant, Item, Place } from './contestant.ts'

export async function openBullContestant(
  { concurrency }: { concurrency: number },
  { address, schema }: Place,
): Promise<Contestant> {
  const connect = (): Redis => new Redis(address, { maxRetriesPerRequest: null })
  const connections = [connect(), connect()] as const
  const queue = new Queue(schema, { connection: connections[0] })
  let stopWork = async (): Promise<void> => undefined
  return {
    async add(items: readonly Item[]) {
      const now = Date.now()
      await queue.addBulk(
        items.map(({ dueAt }) => ({
          name: 'bench',
          data: { at: dueAt },
          opts: { removeOnComplete: true, ...(dueAt !== null && { delay: Math.max(0, dueAt - now) }) },
        })),
      )
    },
    async start(started) {
      const work = async (job: { data: { at: number | null } }): Promise<void> => started(job.data.at)
      const worker = new Worker(schema, work, { connection: connections[1], concurrency })
      worker.on('error', () => undefined)
      await worker.waitUntilReady()
      stopWork = () => worker.close(true)
    },
    left: () => queue.count(),
    async stop() {
      await stopWork()
      await queue.close()
      for (const connection of connections) connection.disconnect()
    },
  }
}
