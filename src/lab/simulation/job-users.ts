// What users ask of the pool of jobs: put, cancel, move to another group, and what becomes of the dead.
import type { Clock } from '../../clock.ts'
import type { Pool } from '../../pool/pool.ts'
import type { PutOptions } from '../../pool/put-options.ts'
import type { Answers } from './answers.ts'
import { JOBS, type JobOperation } from './jobs.ts'
import type { Life } from './life.ts'
import type { RaceCounts } from './sometimes.ts'
import type { SteerOperation } from './steers.ts'

export interface JobUsersParts {
  storeClock: Clock
  races: RaceCounts
  answers: Answers
}

/** So many of the newest dead are looked at. */
const LISTED = 3

export async function askJob(
  { race }: Life,
  operation: JobOperation,
  { storeClock, races, answers }: JobUsersParts,
): Promise<void> {
  const pool = race.pool(JOBS)
  const { key } = operation
  const cancel = async (): Promise<void> => answers.cancelled(key, await pool.cancel(key))
  const put = async (dueInMs: number, options: PutOptions): Promise<void> => {
    const at = storeClock.now() + dueInMs
    const payload = answers.ask({ key, at, onConflict: options.onConflict ?? 'earliest' }, 'itself')
    const { result, dueAt, tally } = await pool.put(key, { ...options, at, payload })
    answers.put(payload, { result, dueAt: dueAt.getTime(), tally })
  }
  if (isSteer(operation)) return steer(pool, operation, storeClock)
  if (operation.kind === 'job-cancel') return cancel()
  if (operation.kind === 'job') {
    const { dueInMs, lane, group, onConflict } = operation
    return put(dueInMs, { lane, onConflict, ...(group === null ? {} : { group }) })
  }
  if (operation.kind === 'job-move') {
    await cancel()
    return put(operation.dueInMs, { lane: operation.lane, group: operation.group })
  }
  for (const dead of await pool.dead.list({ limit: LISTED })) {
    const at = dead.at ?? undefined
    if (operation.kind === 'job-remove') await pool.dead.remove(dead.key, at)
    else if (await pool.dead.redrive(dead.key, at)) races['a dead entry was redriven'] += 1
  }
}

function isSteer(operation: JobOperation): operation is SteerOperation {
  return ['job-pause', 'job-resume', 'job-limit'].includes(operation.kind)
}

/** By the store's clock, as a user whose clock is right would. */
async function steer(pool: Pool, operation: SteerOperation, storeClock: Clock): Promise<void> {
  if (operation.kind === 'job-resume') await pool.resume()
  else if (operation.kind === 'job-limit') await pool.limit(operation.limits)
  else {
    const { untilInMs } = operation
    await pool.pause(untilInMs === null ? {} : { until: storeClock.now() + untilInMs })
  }
}

export function isJob(operation: { kind: string }): operation is JobOperation {
  return operation.kind.startsWith('job')
}
