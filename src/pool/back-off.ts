// How long a failed run waits, and how often it is tried. Pure. Rule [X12] of docs/spec/work.md.
import { checkOptions, optionTable } from '../check-options.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'

/** How often a failed run is retried, and after which delays. */
export interface RetryLimits {
  /** How often a run is tried in all before it is dead; default 10. 1: it is not retried. */
  attempts?: number
  /** The wait after the first failure, which doubles with every further one; default 1s. */
  first?: Duration
  /** No wait is longer; default 1h. */
  longest?: Duration
}

/** When a failed run is retried. */
export interface RetryOptions extends RetryLimits {
  /** Other limits for some errors, by their class; the first that matches counts. */
  errors?: readonly ErrorLimits[]
}

export interface ErrorLimits extends RetryLimits {
  /** A class of errors, such as `TypeError`. */
  type: ErrorType
}

export type ErrorType = abstract new (...given: never[]) => unknown

interface Limits {
  attempts: number
  firstMs: number
  longestMs: number
}

/** The limits of a worker, checked. */
export interface RetryRules extends Limits {
  errors: readonly (Limits & { type: ErrorType })[]
}

const DEFAULTS: Limits = { attempts: 10, firstMs: 1000, longestMs: 3_600_000 }

const LIMITS = { attempts: null, first: 'duration', longest: 'duration' } as const
const RETRY = optionTable<RetryOptions>(
  'retry',
  { ...LIMITS, errors: 'list' },
  { retries: 'did you mean attempts?', delay: 'did you mean first?', maxDelay: 'did you mean longest?' },
)
const ERRORS = optionTable<ErrorLimits>('retry.errors', { ...LIMITS, type: null })

export function retryRules(options: RetryOptions = {}): RetryRules {
  checkOptions(options, RETRY)
  const { errors = [], ...limits } = options
  for (const each of errors) checkOptions(each, ERRORS)
  const usual = limitsOf(limits, DEFAULTS)
  for (const { type } of errors) if (typeof type !== 'function') throw notAClass(type)
  return { ...usual, errors: errors.map(({ type, ...own }) => ({ ...limitsOf(own, usual), type })) }
}

function notAClass(type: unknown): HeadraceError {
  return new HeadraceError('invalid_options', `retry.errors names ${String(type)}, and no class`, {
    remedy: 'give a class of errors, such as TypeError; in a circle of imports it may be undefined yet',
  })
}

function limitsOf({ attempts, first, longest }: RetryLimits, known: Limits): Limits {
  const most = attempts ?? known.attempts
  if (!Number.isInteger(most) || most < 1) {
    throw new HeadraceError('invalid_options', `retry.attempts is ${most}`, {
      remedy: 'give a whole number from 1 on; 1 means that a failed run is dead at once',
    })
  }
  return {
    attempts: most,
    firstMs: first === undefined ? known.firstMs : toMs(first),
    longestMs: longest === undefined ? known.longestMs : toMs(longest),
  }
}

export interface Failed {
  /** How often the run has failed by now, from 1 on. */
  failures: number
  thrown?: unknown
  /** In [0, 1). */
  random: number
}

/** How long the run waits for its next attempt; null: this was the last. */
export function waitMs({ failures, thrown, random }: Failed, rules: RetryRules): number | null {
  const limits = rules.errors.find(({ type }) => thrown instanceof type) ?? rules
  if (failures >= limits.attempts) return null
  const wait = Math.min(limits.firstMs * 2 ** Math.min(failures - 1, 52), limits.longestMs)
  return Math.round(wait * (1 - random / 2))
}
