// A thread that simulates the seeds it is told, and tells each run as it ends.
import { parentPort, workerData } from 'node:worker_threads'
import { simulate } from '../src/lab/simulation/run.ts'

const { seeds } = workerData as { seeds: number[] }
for (const seed of seeds) {
  const { trace: _, ...summary } = await simulate(seed)
  parentPort?.postMessage(summary)
}
