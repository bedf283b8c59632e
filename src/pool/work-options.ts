// What a worker may be told, checked.
import { checkOptions, optionTable } from '../check-options.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import { type RetryOptions, type RetryRules, retryRules } from './back-off.ts'

/** Options of `race.work`. */
export interface WorkOptions {
  /** How many handlers run at once, at most; default 10. */
  concurrency?: number
  /** A run that takes longer is aborted; default: no limit. */
  timeout?: Duration
  /** How failed runs are tried again. */
  retry?: RetryOptions
  /**
   * What becomes of runs while the store does not answer, and another member may be given their partitions: they are aborted,
   * or go on until it is known that another has them. Default `abort`.
   */
  onDoubt?: OnDoubt
}

export type OnDoubt = 'abort' | 'finish'

export interface WorkRules {
  concurrency: number
  timeoutMs: number | null
  retry: RetryRules
  onDoubt: OnDoubt
}

const DOUBTS: readonly OnDoubt[] = ['abort', 'finish']
const MOST_CONCURRENCY = 10_000
/** What queues of other makes call it. */
const ATTEMPTS = 'did you mean retry: { attempts }?'
const WORK = optionTable<WorkOptions>(
  'a worker',
  { concurrency: null, timeout: 'duration', retry: null, onDoubt: DOUBTS },
  { retries: ATTEMPTS, attempts: ATTEMPTS, maxAttempts: ATTEMPTS, backoff: 'did you mean retry: { first }?' },
)

export function workRules(options: WorkOptions): WorkRules {
  checkOptions(options, WORK)
  const { concurrency = 10, timeout, retry, onDoubt = 'abort' } = options
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST_CONCURRENCY) {
    throw new HeadraceError('invalid_options', `the concurrency of a worker is ${concurrency}`, {
      remedy: `give a whole number from 1 to ${MOST_CONCURRENCY}`,
    })
  }
  const timeoutMs = timeout === undefined ? null : toMs(timeout)
  if (timeoutMs === 0) {
    throw new HeadraceError('invalid_options', 'the timeout of a worker is 0: every run would be aborted', {
      remedy: 'leave it out for none',
    })
  }
  return { concurrency, timeoutMs, retry: retryRules(retry), onDoubt }
}
