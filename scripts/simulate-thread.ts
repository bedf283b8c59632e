// A thread that simulates the seeds it is told, and tells each run as it ends.
import { parentPort, workerData } from 'node:worker_threads'
import { simulate } from '../src/lab/simulation/run.ts'

// Refused calls are errors, and nobody reads where they came from: one seed run alone has all of it.
Error.stackTraceLimit = 0

const { seeds } = workerData as { seeds: number[] }
for (const seed of seeds) {
  const { trace: _, ...summary } = await simulate(seed)
  parentPort?.postMessage(summary)
}
