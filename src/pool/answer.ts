// What a handler may answer, and the outcome that comes of it. Pure. Rules [X11] to [X13] of docs/spec/work.md.
import { type Moment, checkMoment } from '../check.ts'
import { checkOptions, optionTable } from '../check-options.ts'
import { LAST_MOMENT } from '../clock.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import { type RetryRules, waitMs } from './back-off.ts'
import { describeError } from './describe-error.ts'
import { mistakenFor } from './returned.ts'
import type { Outcome } from './settle.ts'

/** When to run next: after a while, or at a moment. */
export type When = Duration | { in: Duration } | { at: Moment }

/** How a handler says that its run ended; made by `done`, `again`, `retry`, `dead` and `cancel`. */
export type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly when: Wait }
  | { readonly kind: 'retry'; readonly when: Wait | null }
  | { readonly kind: 'dead'; readonly reason: string }
  | { readonly kind: 'cancel' }

type Wait = { readonly inMs: number } | { readonly at: number }

const DONE: Answer = { kind: 'done' }
const CANCEL: Answer = { kind: 'cancel' }

/** The run is done; the same as returning nothing. */
export function done(): Answer {
  return DONE
}

/** The run is done, and the key shall run again then, with the same payload: `again('10m')`, `again({ at })`. */
export function again(when: When): Answer {
  return { kind: 'again', when: read(when) }
}

/** The run failed and shall be tried again: then, or after the back-off of the worker. The last attempt is dead. */
export function retry(when?: When): Answer {
  return { kind: 'retry', when: when === undefined ? null : read(when) }
}

/** The run failed for good: it is kept among the dead, with this reason. */
export function dead(reason: string): Answer {
  return { kind: 'dead', reason }
}

/** The entry is removed, with all that was put on it. */
export function cancel(): Answer {
  return CANCEL
}

const WHEN = optionTable<{ in?: Duration; at?: Moment }>(
  'a time to run',
  { in: null, at: null },
  { delay: 'did you mean in?' },
)

function read(when: When): Wait {
  if (typeof when !== 'object') return { inMs: toMs(when) }
  checkOptions(when, WHEN)
  return 'in' in when ? { inMs: toMs(when.in) } : { at: checkMoment(when.at) }
}

export interface EndContext {
  /** The store's time, as far as it is known. */
  now: number
  /** How often the run has failed before. */
  failures: number
  rules: RetryRules
  /** In [0, 1). */
  random: number
}

/** What becomes of a run whose handler returned this. */
export function outcomeOf(answer: Answer | undefined, context: EndContext): Outcome {
  switch (answer?.kind) {
    case 'again':
      return { kind: 'again', dueAt: timeOf(answer.when, context.now) }
    case 'retry':
      return failed({ reason: 'attempts', error: null }, answer.when, context)
    case 'dead':
      return { kind: 'dead', reason: describeError(answer.reason), error: null }
    case 'cancel':
      return { kind: 'cancel' }
    case 'done':
      return { kind: 'done' }
    case undefined:
    default:
      refuseMistaken(answer)
      return { kind: 'done' }
  }
}

/** In JavaScript a handler may return anything. What was meant as an outcome must not count as done. [X11] */
function refuseMistaken(returned: unknown): void {
  const what = mistakenFor(returned)
  if (what !== null) throw new HeadraceError('invalid_input', what)
}

/** What becomes of a run whose handler threw this. */
export function outcomeOfThrow(thrown: unknown, context: EndContext): Outcome {
  return failed({ reason: 'attempts', error: describeError(thrown), thrown }, null, context)
}

interface Failure {
  reason: string
  error: string | null
  thrown?: unknown
}

function failed({ reason, error, thrown }: Failure, when: Wait | null, context: EndContext): Outcome {
  const { failures, rules, random, now } = context
  const wait = waitMs({ failures: failures + 1, thrown, random }, rules)
  if (wait === null) return { kind: 'dead', reason, error }
  const dueAt = when === null ? now + wait : timeOf(when, now)
  return { kind: 'retry', dueAt, ...(error === null ? {} : { error }) }
}

function timeOf(when: Wait, now: number): number {
  // An answer that was made by hand.
  if (typeof when !== 'object' || when === null) refuseMistaken({ kind: 'again', when })
  const time = 'at' in when ? when.at : now + when.inMs
  if (!Number.isSafeInteger(time) || time > LAST_MOMENT)
    throw new TypeError(`a handler answered the time ${time}`)
  return time
}
