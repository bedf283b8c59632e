// What one run is like, all of it drawn from its seed: how many members, which faults there are and how often, and what
// is asked of them. A fault that does not exist in a run lets others come deeper.
import type { OnConflict } from '../../pool/entry.ts'
import { type Random, createRandom } from '../../random.ts'
import { type JobOperation, type JobRules, drawJobs } from './jobs.ts'

/** What may become of one call to the store, each with its probability. */
export interface CallFaults {
  /** It is refused before it has an effect. */
  refused: number
  /** Its answer is lost after it had an effect. */
  cut: number
  /** It is on its way for a while, either way; its sender may be dead when it arrives. */
  delayed: number
  longestDelayMs: number
  /** How long it is on its way at most, if nothing is wrong with it: enough for others to come between. */
  latencyMs: number
  /** Its sender dies before it is sent, or before its answer comes. */
  crash: number
  /** Its sender stands still just before it is sent, for longer than its lease: what it knew then is old. */
  stalled: number
  /** Of the calls whose answer is lost, and which do no harm when repeated: the store's own code makes it again. */
  again: number
  /** Its sender dies at a fault point, just before or after a step of its own or of the store's. */
  point: number
  /** A hint is lost. All come late as calls do, and overtake each other. */
  hintLost: number
  /** A hint comes twice. */
  hintRepeated: number
}

const PLANNED_FAULTS = [
  'kill',
  'kill-all',
  'pause',
  'cut-off',
  'outage',
  'wrong-clock',
  'store-clock',
  'join',
  'leave',
] as const

/** Something that happens to a member, or to the store, at a moment of the run. */
export interface PlannedFault {
  atMs: number
  /** `go-back`: the store goes back to what it held at this moment, so many milliseconds later. */
  kind: (typeof PLANNED_FAULTS)[number] | 'go-back'
  /** Which of those that run, by its place among them. */
  member: number
  /** How long it lasts, or how far a clock is off. */
  ms: number
}

/** A transaction of the user's own, which ends after a while. */
export interface Ending {
  endsInMs: number
  commits: boolean
}

/** Something that a user asks of a member. */
export type Operation = { atMs: number; key: string } & (
  | { kind: 'put'; dueInMs: number; onConflict: OnConflict; tx: Ending | null }
  /** With an id, by which it can be made again, also at another member. */
  | { kind: 'put-again'; dueInMs: number; onConflict: OnConflict }
  | { kind: 'append'; tx: Ending | null }
  | { kind: 'cancel' }
  | { kind: 'reschedule'; dueInMs: number }
)

export interface Swarm {
  seed: number
  members: number
  partitions: number
  mode: 'one' | 'each'
  leaseMs: number
  /** How long faults last; then all is healed. */
  faultyMs: number
  calls: CallFaults
  /** Draws of a fault that are not carried out, by their numbers: all others stay as they were. */
  spared: readonly number[]
  planned: PlannedFault[]
  operations: Operation[]
  /** What members work on beside the ticks; null: nothing. */
  jobs: JobRules | null
  jobOperations: JobOperation[]
}

/** The pool and the topic of the ticks in every run. */
export const POOL = 'ticks'
/** The topic that users append to. */
export const TOPIC = 'events'

const FAULTY_MS = 30_000
const LEAST_OPERATIONS = 200
const LONGEST_TRANSACTION_MS = 20_000
/** In so many runs no call goes wrong: what is promised of outages alone can be checked there. */
const CALM = 0.12
/** In so many runs the store goes back to an earlier state. */
const WENT_BACK = 0.1
const HOUR_MS = 3_600_000
const FAR_MS = [HOUR_MS, 30 * 24 * HOUR_MS, 10 * 365 * 24 * HOUR_MS]

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
    spared: [],
    planned: [...drawPlanned(random, leaseMs), ...drawGoBack(seed)].toSorted((a, b) => a.atMs - b.atMs),
    operations: drawOperations(random, mode),
    ...drawJobs(seed, { faultyMs: FAULTY_MS }),
  }
}

/** A rate that is often none at all. */
function rate(random: Random, most: number): number {
  return random.next() < 0.5 ? 0 : random.next() * most
}

function drawCallFaults(random: Random): CallFaults {
  const most = random.next() < CALM ? 0 : 1
  return {
    refused: rate(random, 0.05 * most),
    cut: rate(random, 0.05 * most),
    delayed: rate(random, 0.2 * most),
    latencyMs: random.pick([0, 2, 20]),
    longestDelayMs: random.pick([20, 200, 2000, 5000]),
    crash: rate(random, 0.003 * most),
    stalled: rate(random, 0.005 * most),
    again: rate(random, 1),
    point: rate(random, 0.004 * most),
    hintLost: rate(random, 0.5),
    hintRepeated: rate(random, 0.5),
  }
}

function drawPlanned(random: Random, leaseMs: number): PlannedFault[] {
  const kinds = PLANNED_FAULTS.filter(() => random.next() < 0.6)
  if (kinds.length === 0) return []
  const count = 2 + random.below(10)
  const planned = Array.from({ length: count }, (): PlannedFault => {
    const kind = random.pick(kinds)
    const offMs = (random.next() * 2 - 1) * random.pick([5000, 60_000, HOUR_MS])
    const ms = kind.endsWith('clock') ? offMs : (0.2 + random.next() * 3) * leaseMs
    return { atMs: random.below(FAULTY_MS), kind, member: random.below(5), ms: Math.round(ms) }
  })
  return planned.toSorted((a, b) => a.atMs - b.atMs)
}

/** By a generator of its own: a seed that does not draw it is the run that it was. */
function drawGoBack(seed: number): PlannedFault[] {
  const random = createRandom(seed ^ 0x60bac)
  if (random.next() >= WENT_BACK) return []
  const ms = random.pick([200, 1000, 5000]) * (0.5 + random.next())
  return [{ atMs: 2000 + random.below(FAULTY_MS - 12_000), kind: 'go-back', member: 0, ms: Math.round(ms) }]
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
    const isFar = random.next() < 0.05
    const at = { atMs, key, dueInMs: isFar ? random.pick(FAR_MS) : dueInMs }
    return drawOperation(random, at, mode)
  })
  return operations.toSorted((a, b) => a.atMs - b.atMs)
}

function drawOperation(
  random: Random,
  { dueInMs, ...at }: { atMs: number; key: string; dueInMs: number },
  mode: Swarm['mode'],
): Operation {
  const drawn = random.next()
  if (drawn < 0.1) return { ...at, kind: 'cancel' }
  if (drawn < 0.2) return { ...at, kind: 'reschedule', dueInMs }
  if (drawn < 0.3) return { ...at, kind: 'append', tx: drawEnding(random, 0.5) }
  const onConflict = mode === 'each' ? 'earliest' : random.pick(['earliest', 'replace', 'keep'] as const)
  if (drawn < 0.4) return { ...at, kind: 'put-again', dueInMs, onConflict }
  // Of those that replace more: otherwise two that wait for one fold hardly ever meet.
  return {
    ...at,
    kind: 'put',
    dueInMs,
    onConflict,
    tx: drawEnding(random, onConflict === 'replace' ? 0.4 : 0.15),
  }
}

function drawEnding(random: Random, most: number): Ending | null {
  if (random.next() >= most) return null
  return { endsInMs: random.below(LONGEST_TRANSACTION_MS), commits: random.next() < 0.8 }
}
