// What steers a pool from outside: whether it is paused, its limits, how the members share those of the whole pool, which
// entries were cancelled lately, and whether it is of ticks.
// Types, what callers may write, and the small questions one may ask of it. Pure. Rules of docs/spec/limits.md.
import { type Moment, checkMoment, describe } from '../check.ts'
import { checkOptions, optionTable } from '../check-options.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import type { CancelledName } from './entry.ts'

/** At most so many starts in every span of that length. */
export interface Rate {
  count: number
  perMs: number
  /** They are spaced; left out: they may come at once. [L22] */
  spread?: true
}

/** Null: there is no such limit. */
export interface Limit {
  /** How many runs are under way at once. */
  concurrency: number | null
  rate: Rate | null
}

/** The limits of a pool. */
export interface Limits {
  /** For each group by itself. */
  group: Limit
  /** For the pool as a whole, whatever the number of members. */
  pool: Limit
}

export interface Paused {
  by: string | null
  reason: string | null
  /** The store's clock at the pause. */
  since: number
  /** When it ends by itself, by the store's clock; null: it does not. */
  until: number | null
}

/** Of one limit of the pool: how much of it a member has. */
export interface Part {
  /** Counts against the limit; only the member itself lowers it. */
  has: number
  /** How much it could use. */
  wants: number
  /** It shall come down to this: the limit was lowered. Null: it may use what it has. */
  cut: number | null
}

/** What one member has of the limits of the pool. */
export interface Share {
  member: string
  /** The version of the roster in which it was seen: one that is not in a later one is gone. */
  seenIn: number
  /** It is gone, and what it started counts until then, by the store's clock; null: it is there. */
  endsAt: number | null
  concurrency: Part
  rate: Part
}

/** A cancel of what was due, and the version of the control in which it is told of first. */
export interface ToldCancel extends CancelledName {
  version: number
}

export interface Control {
  paused: Paused | null
  limits: Limits
  shares: readonly Share[]
  /** The last cancels of what was due, the newest last; left out: there was none. [X24] */
  cancels?: readonly ToldCancel[]
  /** Its due entries move to a topic; left out: nobody has moved any yet, or it is worked on. [T6] */
  isTicks?: true
}

const NO_LIMIT: Limit = { concurrency: null, rate: null }

/** What a pool begins with. */
export const NO_CONTROL: Control = {
  paused: null,
  limits: { group: NO_LIMIT, pool: NO_LIMIT },
  shares: [],
}

/** The pause that holds at this time of the store; null: none does. [L12] */
export function pauseAt({ paused }: Control, now: number): Paused | null {
  return paused === null || (paused.until !== null && paused.until <= now) ? null : paused
}

/** How many cancels are told of at most: 6 KB of keys of 20 characters, 50 KB of the longest. */
export const MOST_CANCELS = 100

/** A control of this version, in which these cancels are told of, too. [X24] */
export function withCancels(control: Control, names: readonly CancelledName[], version: number): Control {
  const told = names.map((name) => ({ ...name, version }))
  return { ...control, cancels: [...(control.cancels ?? []), ...told].slice(-MOST_CANCELS) }
}

/** Options of `pool.pause`. */
export interface PauseOptions {
  reason?: string
  /** Who pauses it. */
  by?: string
  /** It ends by itself then; default: it ends with `resume`. */
  until?: Moment
}

export interface RateOptions {
  count: number
  per: Duration
  /** Starts are spaced by `per`/`count`; default false: all that may start at once. */
  spread?: boolean
}

/** What is left out stays as it is; null lifts it. */
export interface LimitOptions {
  concurrency?: number | null
  rate?: RateOptions | null
}

/** Options of `pool.limit`. */
export interface LimitsOptions {
  group?: LimitOptions | null
  pool?: LimitOptions | null
}

const LONGEST_TEXT = 1000

const PAUSE = optionTable<PauseOptions>('a pause', { reason: null, by: null, until: null })
const LIMITS = optionTable<LimitsOptions>('limits', { group: null, pool: null })

export function checkPause(options: PauseOptions): Omit<Paused, 'since'> {
  checkOptions(options, PAUSE)
  const { reason, by, until } = options
  return {
    reason: reason === undefined ? null : checkText(reason, 'reason'),
    by: by === undefined ? null : checkText(by, 'by'),
    until: until === undefined ? null : checkMoment(until, 'until'),
  }
}

function checkText(text: unknown, name: string): string {
  if (typeof text === 'string') return text.slice(0, LONGEST_TEXT)
  throw new HeadraceError('invalid_options', `${name} is ${describe(text)}`, {
    remedy: 'give a text, or leave it out',
  })
}

/** The limits after a change. */
export function changeLimits(limits: Limits, options: LimitsOptions): Limits {
  checkOptions(options, LIMITS)
  return {
    group: changeLimit(limits.group, options.group, 'group'),
    pool: changeLimit(limits.pool, options.pool, 'pool'),
  }
}

function changeLimit(limit: Limit, options: LimitOptions | null | undefined, name: string): Limit {
  if (options === undefined) return limit
  if (options === null) return NO_LIMIT
  checkOptions(options, optionTable<LimitOptions>(`limits.${name}`, { concurrency: null, rate: null }))
  const { concurrency, rate } = options
  return {
    concurrency:
      concurrency === undefined
        ? limit.concurrency
        : concurrency === null
          ? null
          : checkCount(concurrency, `limits.${name}.concurrency`),
    rate: rate === undefined ? limit.rate : rate === null ? null : checkRate(rate, `limits.${name}.rate`),
  }
}

function checkRate(rate: RateOptions, name: string): Rate {
  checkOptions(rate, optionTable<RateOptions>(name, { count: null, per: null, spread: 'flag' }))
  const checked = {
    count: checkCount(rate.count, `${name}.count`),
    perMs: checkSpan(rate.per, `${name}.per`),
  }
  return rate.spread === true ? { ...checked, spread: true } : checked
}

function checkSpan(per: unknown, name: string): number {
  const perMs = spanOf(per)
  if (perMs !== null && perMs >= SHORTEST_MS && perMs <= LONGEST_MS) return perMs
  throw new HeadraceError('invalid_options', `${name} is ${perMs === null ? describe(per) : `${perMs} ms`}`, {
    remedy: "give a time from '100ms' to '1h'; members that take over wait as long as that",
  })
}

function spanOf(per: unknown): number | null {
  if (typeof per !== 'string' && typeof per !== 'number') return null
  try {
    return toMs(per)
  } catch {
    return null
  }
}

/** Below it the steps of clocks and timers matter. */
const SHORTEST_MS = 100
const LONGEST_MS = 3_600_000
const LARGEST = 1_000_000

function checkCount(count: unknown, name: string): number {
  if (typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= LARGEST) return count
  throw new HeadraceError('invalid_options', `${name} is ${describe(count)}`, {
    remedy: `give a whole number from 1 to ${LARGEST}; null for concurrency or rate lifts it; to let nothing run, pause the pool`,
  })
}
