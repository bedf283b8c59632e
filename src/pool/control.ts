// What steers a pool from outside: whether it is paused, its limits, and how the members share those of the whole pool.
// Types, what callers may write, and the small questions one may ask of it. Pure. Rules of docs/spec/limits.md.
import { type Moment, checkMoment } from '../check.ts'
import { type Duration, toMs } from '../duration.ts'
import { HeadraceError } from '../errors.ts'
import { nearest } from '../nearest.ts'

/** At most so many starts in every span of that length. */
export interface Rate {
  count: number
  perMs: number
}

/** Null: there is no such limit. */
export interface Limit {
  /** How many runs are under way at once. */
  concurrency: number | null
  rate: Rate | null
}

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

export interface Control {
  paused: Paused | null
  limits: Limits
  shares: readonly Share[]
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

export interface PauseOptions {
  reason?: string
  /** Who pauses it. */
  by?: string
  /** It ends by itself then; unless said, it ends with `resume`. */
  until?: Moment
}

export interface RateOptions {
  count: number
  per: Duration
}

/** What is left out stays as it is; null lifts it. */
export interface LimitOptions {
  concurrency?: number | null
  rate?: RateOptions | null
}

export interface LimitsOptions {
  group?: LimitOptions | null
  pool?: LimitOptions | null
}

const LONGEST_TEXT = 1000

export function checkPause({ reason, by, until }: PauseOptions): Omit<Paused, 'since'> {
  return {
    reason: reason === undefined ? null : reason.slice(0, LONGEST_TEXT),
    by: by === undefined ? null : by.slice(0, LONGEST_TEXT),
    until: until === undefined ? null : checkMoment(until, 'until'),
  }
}

/** The limits after a change. */
export function changeLimits(limits: Limits, options: LimitsOptions): Limits {
  refuseUnknown(options, ['group', 'pool'], 'limits')
  return {
    group: changeLimit(limits.group, options.group, 'group'),
    pool: changeLimit(limits.pool, options.pool, 'pool'),
  }
}

function changeLimit(limit: Limit, options: LimitOptions | null | undefined, name: string): Limit {
  if (options === undefined) return limit
  if (options === null) return NO_LIMIT
  refuseUnknown(options, ['concurrency', 'rate'], `limits.${name}`)
  const { concurrency, rate } = options
  return {
    concurrency:
      concurrency === undefined
        ? limit.concurrency
        : concurrency === null
          ? null
          : checkCount(concurrency, `limits.${name}.concurrency`),
    rate: rate === undefined ? limit.rate : rate && checkRate(rate, `limits.${name}.rate`),
  }
}

function checkRate(rate: RateOptions, name: string): Rate {
  refuseUnknown(rate, ['count', 'per'], name)
  const perMs = toMs(rate.per)
  if (perMs < SHORTEST_MS || perMs > LONGEST_MS) {
    throw new HeadraceError('invalid_options', `${name}.per is ${perMs} ms`, {
      remedy: "give a time from '100ms' to '1h'; members that take over wait as long as that",
    })
  }
  return { count: checkCount(rate.count, `${name}.count`), perMs }
}

/** Below it the steps of clocks and timers matter. */
const SHORTEST_MS = 100
const LONGEST_MS = 3_600_000
const LARGEST = 1_000_000

function checkCount(count: number, name: string): number {
  if (Number.isInteger(count) && count >= 1 && count <= LARGEST) return count
  throw new HeadraceError('invalid_options', `${name} is ${count}`, {
    remedy: `give a whole number from 1 to ${LARGEST}, or null for no limit; to let nothing run, pause the pool`,
  })
}

function refuseUnknown(given: object, names: readonly string[], what: string): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const near = nearest(unknown, names)
  throw new HeadraceError('invalid_options', `${what} has no ${JSON.stringify(unknown)}`, {
    remedy: near === null ? `choose ${names.join(' or ')}` : `did you mean ${near}?`,
  })
}
