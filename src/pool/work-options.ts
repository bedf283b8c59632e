// What a worker may be told, checked.
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { type RetryOptions, type RetryRules, retryRules } from './back-off.ts'

export interface WorkOptions {
  /** How many handlers run at once, at most; 10 unless said. */
  concurrency?: number
  /** A run that takes longer is aborted; unless said, none is. */
  timeout?: Duration
  /** How failed runs are tried again. */
  retry?: RetryOptions
  /**
   * What becomes of runs while the store does not answer, and another member may be given their partitions: they are aborted,
   * or go on until it is known that another has them. `abort` unless said.
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

const NAMES = ['concurrency', 'timeout', 'retry', 'onDoubt']
const DOUBTS: readonly OnDoubt[] = ['abort', 'finish']
const MOST_CONCURRENCY = 10_000

export function workRules(options: WorkOptions): WorkRules {
  for (const name of Object.keys(options)) if (!NAMES.includes(name)) throw unknownOption(name)
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
  if (!DOUBTS.includes(onDoubt)) {
    throw new HeadraceError('invalid_options', `onDoubt of a worker is ${JSON.stringify(onDoubt)}`, {
      remedy: `choose one of ${DOUBTS.join(', ')}`,
    })
  }
  return { concurrency, timeoutMs, retry: retryRules(retry), onDoubt }
}

function unknownOption(name: string): HeadraceError {
  const near = nearest(name, NAMES)
  return new HeadraceError('invalid_options', `a worker has no option ${JSON.stringify(name)}`, {
    remedy: near === null ? `choose one of ${NAMES.join(', ')}` : `did you mean ${near}?`,
  })
}
