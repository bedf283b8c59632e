// The work of a run, drawn from its seed: a second pool that every member has a worker for, what users ask of it, and how
// its handlers behave.
import { LANES, type Lane, type Mode, type OnConflict } from '../../pool/entry.ts'
import { type Random, createRandom } from '../../random.ts'
import { type SteerOperation, type Steered, drawSteers } from './steers.ts'

/** The pool that members work on, beside the ticks. */
export const JOBS = 'jobs'

/** How handlers behave, each with its probability. */
export interface Habits {
  /** It takes time: up to the longest, which may be more than the lease or the timeout. */
  slow: number
  longestMs: number
  /** It goes on though its signal fires. */
  ignore: number
  /** It heeds its signal, and returns all the same. */
  returns: number
  /** How it ends; the rest is done. */
  throw: number
  retry: number
  again: number
  dead: number
  cancel: number
  /** The key whose handler ends its process; left out: none does. */
  poison?: string
}

export interface JobRules {
  partitions: number
  mode: Mode
  concurrency: number
  timeoutMs: number | null
  attempts: number
  firstMs: number
  longestMs: number
  /** How long a stop, or a hand-over, waits for handlers. */
  drainWithinMs: number
  habits: Habits
  /** Left out: nobody steers the pool. */
  steered?: Steered
}

/** Something that a user asks of the pool of jobs. */
export type JobOperation = SteerOperation | PoolOperation

type PoolOperation = { atMs: number; key: string } & (
  | { kind: 'job'; dueInMs: number; lane: Lane; group: string | null; onConflict: OnConflict }
  /** Cancelled, and put with another group: it may change its partition while its run is under way. */
  | { kind: 'job-move'; dueInMs: number; lane: Lane; group: string }
  | { kind: 'job-cancel' }
  /** What died last runs again, or is removed. */
  | { kind: 'job-redrive' }
  | { kind: 'job-remove' }
)

const LEAST_OPERATIONS = 60
const HOUR_MS = 3_600_000
/** In so many runs there is a poison: few, since a run in which members die without end meets little else. */
const POISONED = 0.1

/** By a generator of its own: what else the seed draws does not depend on it. */
export function drawJobs(
  seed: number,
  { faultyMs }: { faultyMs: number },
): { jobs: JobRules; jobOperations: JobOperation[] } {
  const random = createRandom(seed ^ 0x10b5)
  const mode = random.pick(['one', 'one', 'each'] as const)
  const steers = drawSteers(seed, { faultyMs })
  const drawn = {
    jobs: {
      partitions: random.pick([1, 4, 8]),
      mode,
      concurrency: random.pick([1, 3, 20]),
      timeoutMs: random.pick([null, 200, 2000]),
      attempts: random.pick([1, 2, 5]),
      firstMs: random.pick([20, 500]),
      longestMs: random.pick([500, 3000]),
      drainWithinMs: random.pick([500, 5000, 30_000]),
      habits: { ...drawHabits(random), ...drawPoison(seed) },
    },
    jobOperations: drawJobOperations(random, { mode, faultyMs }),
  }
  if (steers === null) return drawn
  const jobOperations = [...drawn.jobOperations, ...steers.operations].toSorted((a, b) => a.atMs - b.atMs)
  return { jobs: { ...drawn.jobs, steered: steers.steered }, jobOperations }
}

function drawHabits(random: Random): Habits {
  return {
    slow: random.pick([0.1, 0.5, 0.9]),
    longestMs: random.pick([20, 500, 4000, 16_000]),
    ignore: random.pick([0, 0.1, 0.6]),
    returns: random.pick([0, 0.5]),
    throw: random.pick([0, 0.1, 0.4]),
    retry: random.pick([0, 0.1]),
    again: random.pick([0, 0.1, 0.3]),
    dead: random.pick([0, 0.1]),
    cancel: random.pick([0, 0.05]),
  }
}

/** By a generator of its own, too. */
function drawPoison(seed: number): Pick<Habits, 'poison'> {
  const random = createRandom(seed ^ 0x9015)
  return random.next() < POISONED ? { poison: `j${random.below(2)}` } : {}
}

function drawJobOperations(
  random: Random,
  { mode, faultyMs }: { mode: Mode; faultyMs: number },
): JobOperation[] {
  const keys = random.pick([2, 15, 200])
  const isBursts = random.next() < 0.4
  const farMs = random.pick([100, 3000, 20_000])
  const soon = random.pick([0.1, 0.6])
  const count = LEAST_OPERATIONS + random.below(LEAST_OPERATIONS)
  const operations = Array.from({ length: count }, (): JobOperation => {
    const atMs = isBursts ? 5000 * random.below(faultyMs / 5000) + random.below(20) : random.below(faultyMs)
    const at = { atMs, key: `j${random.below(keys)}` }
    const drawn = random.next()
    if (drawn < 0.08) return { ...at, kind: 'job-cancel' }
    if (drawn < 0.12) return { ...at, kind: 'job-redrive' }
    if (drawn < 0.14) return { ...at, kind: 'job-remove' }
    const isFar = random.next() < 0.03
    const dueInMs = random.next() < soon ? 0 : isFar ? HOUR_MS : random.below(farMs)
    const put = { ...at, dueInMs, lane: random.pick(LANES), group: `g${random.below(5)}` }
    if (drawn < 0.24) return { ...put, kind: 'job-move' }
    const onConflict = mode === 'each' ? 'earliest' : random.pick(['earliest', 'replace', 'keep'] as const)
    return { ...put, kind: 'job', group: drawn < 0.5 ? put.group : null, onConflict }
  })
  return operations.toSorted((a, b) => a.atMs - b.atMs)
}
