// How users steer the pool of jobs in some runs, drawn from the seed: they pause it and resume it, and change its limits.
import type { LimitOptions, LimitsOptions } from '../../pool/control.ts'
import { type Random, createRandom } from '../../random.ts'

/** Something that a user asks of what steers the pool of jobs. */
export type SteerOperation = { atMs: number; key: string } & (
  | { kind: 'job-pause'; untilInMs: number | null }
  | { kind: 'job-resume' }
  | { kind: 'job-limit'; limits: LimitsOptions }
)

/** What is left of the limits when all is healed; a pause never is. */
export interface Steered {
  left: LimitsOptions
}

/** In so many runs users steer: work that is held back meets little else. */
const STEERED = 0.3
const KEY = '-'
const LONGEST_PAUSE_MS = 6000

const NO_LIMITS: LimitsOptions = {
  group: { concurrency: null, rate: null },
  pool: { concurrency: null, rate: null },
}

/** Enough for all that is due to run while it heals. */
const WIDE_LIMITS: LimitsOptions = {
  group: { concurrency: 1, rate: { count: 10, per: 500 } },
  pool: { concurrency: 2, rate: { count: 20, per: 500 } },
}

/** Whether limits are left when all is healed. */
export function isLimited({ left: { group, pool } }: Steered): boolean {
  return [group, pool].some(
    (limit) => (limit?.concurrency ?? null) !== null || (limit?.rate ?? null) !== null,
  )
}

/** So many of the rates are spread. */
const SPREAD = 0.3

/** By a generator of its own: what else the seed draws does not depend on it. Null: nobody steers. */
export function drawSteers(
  seed: number,
  { faultyMs }: { faultyMs: number },
): { steered: Steered; operations: SteerOperation[] } | null {
  const random = createRandom(seed ^ 0x57ee4)
  if (random.next() >= STEERED) return null
  const kind = random.pick(['pauses', 'limits', 'both'] as const)
  const operations = [
    ...(kind === 'limits' ? [] : drawPauses(random, faultyMs)),
    ...(kind === 'pauses' ? [] : spreadSome(drawLimits(random, faultyMs), createRandom(seed ^ 0x5b8ead))),
  ]
  const left = kind === 'pauses' || random.next() < 0.5 ? NO_LIMITS : WIDE_LIMITS
  return { steered: { left }, operations }
}

/** Some end by themselves, and some are forgotten. */
function drawPauses(random: Random, faultyMs: number): SteerOperation[] {
  return Array.from({ length: 2 + random.below(4) }, () => {
    const atMs = random.below(faultyMs)
    const forMs = 200 + random.below(LONGEST_PAUSE_MS)
    const hasEnd = random.next() < 0.4
    const pause = { atMs, key: KEY, kind: 'job-pause' as const, untilInMs: hasEnd ? forMs : null }
    const isForgotten = random.next() < (hasEnd ? 0.7 : 0.1)
    const resume = { atMs: atMs + random.below(forMs), key: KEY, kind: 'job-resume' as const }
    return isForgotten ? [pause] : [pause, resume]
  }).flat()
}

function drawLimits(random: Random, faultyMs: number): SteerOperation[] {
  return Array.from({ length: 3 + random.below(8) }, (_, nth): SteerOperation => {
    const atMs = nth < 2 ? random.below(1000) : random.below(faultyMs)
    const isLifted = nth > 1 && random.next() < 0.2
    const limit: LimitOptions =
      random.next() < 0.5
        ? { concurrency: isLifted ? null : random.pick([1, 2, 4]) }
        : { rate: isLifted ? null : { count: random.pick([1, 3, 8]), per: random.pick([300, 1000, 3000]) } }
    return { atMs, key: KEY, kind: 'job-limit', limits: { [random.pick(['group', 'pool'])]: limit } }
  })
}

/** By a generator of its own, too: the limits of a seed are otherwise what they were. */
function spreadSome(operations: SteerOperation[], random: Random): SteerOperation[] {
  const spread = (limit: LimitOptions): LimitOptions => {
    const { rate = null } = limit
    return rate !== null && random.next() < SPREAD ? { ...limit, rate: { ...rate, spread: true } } : limit
  }
  return operations.map((operation) => {
    if (operation.kind !== 'job-limit') return operation
    const limits = Object.entries(operation.limits as Record<string, LimitOptions>)
    return {
      ...operation,
      limits: Object.fromEntries(limits.map(([scope, limit]) => [scope, spread(limit)])),
    }
  })
}
