// What one run is like, all of it drawn from its seed: how many members, which faults there are and how often, and what
// is asked of them. A fault that does not exist in a run lets others come deeper.
import type { OnConflict } from '../../pool/entry.ts'
import { type Random, createRandom } from '../../random.ts'

/** What may become of one call to the store, each with its probability. */
export interface CallFaults {
  /** It is refused before it has an effect. */
  refused: number
  /** Its answer is lost after it had an effect. */
  cut: number
  /** It is on its way for a while, either way; its sender may be dead when it arrives. */
  delayed: number
  longestDelayMs: number
  /** Its sender dies before it is sent, or before its answer comes. */
  crash: number
  /** Its sender stands still just before it is sent, for longer than its lease: what it knew then is old. */
  stalled: number
  /** A hint is lost, or comes late. */
  hintLost: number
}

const PLANNED_FAULTS = ['kill', 'pause', 'cut-off', 'outage', 'wrong-clock', 'join', 'leave'] as const

/** Something that happens to a member, or to the store, at a moment of the run. */
export interface PlannedFault {
  atMs: number
  kind: (typeof PLANNED_FAULTS)[number]
  /** Which of those that run, by its place among them. */
  member: number
  /** How long it lasts, or how far a clock is off. */
  ms: number
}

/** Something that a user asks of a member. */
export type Operation =
  | { atMs: number; kind: 'put'; key: string; dueInMs: number; onConflict: OnConflict }
  | { atMs: number; kind: 'cancel'; key: string }
  | { atMs: number; kind: 'reschedule'; key: string; dueInMs: number }

export interface Swarm {
  seed: number
  members: number
  partitions: number
  mode: 'one' | 'each'
  leaseMs: number
  /** How long faults last; then all is healed. */
  faultyMs: number
  calls: CallFaults
  planned: PlannedFault[]
  operations: Operation[]
}

/** The pool and the topic of the ticks in every run. */
export const POOL = 'ticks'

const FAULTY_MS = 30_000
const LEAST_OPERATIONS = 200

export function drawSwarm(seed: number): Swarm {
  const random = createRandom(seed)
  const leaseMs = random.pick([1000, 3000])
  const mode = random.pick(['one', 'each'] as const)
  const members = 2 + random.below(4)
  return {
    seed,
    members,
    partitions: random.pick([1, 4, 8, 32]),
    mode,
    leaseMs,
    faultyMs: FAULTY_MS,
    calls: drawCallFaults(random),
    planned: drawPlanned(random, leaseMs),
    operations: drawOperations(random, mode),
  }
}

/** A rate that is often none at all. */
function rate(random: Random, most: number): number {
  return random.next() < 0.5 ? 0 : random.next() * most
}

function drawCallFaults(random: Random): CallFaults {
  return {
    refused: rate(random, 0.05),
    cut: rate(random, 0.05),
    delayed: rate(random, 0.2),
    longestDelayMs: random.pick([20, 200, 2000]),
    crash: rate(random, 0.003),
    stalled: rate(random, 0.005),
    hintLost: rate(random, 0.5),
  }
}

function drawPlanned(random: Random, leaseMs: number): PlannedFault[] {
  const kinds = PLANNED_FAULTS.filter(() => random.next() < 0.6)
  if (kinds.length === 0) return []
  const count = 2 + random.below(10)
  const planned = Array.from({ length: count }, (): PlannedFault => {
    const kind = random.pick(kinds)
    const ms =
      kind === 'wrong-clock' ? (random.next() * 2 - 1) * 3_600_000 : (0.2 + random.next() * 3) * leaseMs
    return { atMs: random.below(FAULTY_MS), kind, member: random.below(5), ms: Math.round(ms) }
  })
  return planned.toSorted((a, b) => a.atMs - b.atMs)
}

function drawOperations(random: Random, mode: Swarm['mode']): Operation[] {
  const keys = random.pick([3, 50, 1000])
  const shape = random.pick(['even', 'bursts', 'herd'] as const)
  const farMs = random.pick([100, 5000, 25_000])
  const count = LEAST_OPERATIONS + random.below(LEAST_OPERATIONS)
  const operations = Array.from({ length: count }, (): Operation => {
    const atMs = shape === 'bursts' ? 5000 * random.below(6) + random.below(20) : random.below(FAULTY_MS)
    const key = `k${random.below(keys)}`
    const dueInMs = shape === 'herd' ? (Math.floor(atMs / 5000) + 1) * 5000 - atMs : random.below(farMs)
    const drawn = random.next()
    if (drawn < 0.1) return { atMs, kind: 'cancel', key }
    if (drawn < 0.2) return { atMs, kind: 'reschedule', key, dueInMs }
    const onConflict = mode === 'each' ? 'earliest' : random.pick(['earliest', 'replace', 'keep'] as const)
    return { atMs, kind: 'put', key, dueInMs, onConflict }
  })
  return operations.toSorted((a, b) => a.atMs - b.atMs)
}
