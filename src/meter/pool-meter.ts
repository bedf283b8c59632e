// The meter of one pool's work: told of every run by its worker, and allocates nothing then. [I1]
import type { Clock } from '../clock.ts'
import { LANES, type Lane } from '../pool/entry.ts'
import type { WorkMeter, WorkerSight } from '../pool/work-meter.ts'
import type { RunOutcome, SettleWord } from '../telemetry.ts'
import type { Hdr } from './hdr.ts'
import { COUNTS, type Count, LaneMeter, STEPS, type Step } from './lane-meter.ts'

const AT = Object.fromEntries(COUNTS.map((count, place) => [count, place])) as Record<Count, number>
const [LATENESS, DELAY, WAIT, RUN, SETTLE] = STEPS.map((_, place) => place) as [
  number,
  number,
  number,
  number,
  number,
]

/** What counts a run that ended otherwise than done. */
const END = { again: AT.again, retry: AT.retried, dead: AT.dead, cancel: AT.cancelled } as const

export interface PoolMeterParts {
  pool: string
  worker: WorkerSight
  clock: Clock
  whole: LaneMeter
}

export class PoolMeter implements WorkMeter {
  readonly pool: string
  /** What the worker says of itself. */
  readonly worker: WorkerSight
  /** What is of the pool, and of none of its lanes. */
  readonly #whole: LaneMeter
  readonly #clock: Clock
  /** From the monotonic clock to the wall's, as it stood at the beginning. */
  readonly #offsetMs: number
  readonly #lanes: Readonly<Record<Lane, LaneMeter>>
  #turnsAt: number

  constructor({ pool, worker, clock, whole }: PoolMeterParts) {
    this.pool = pool
    this.#whole = whole
    this.worker = worker
    this.#clock = clock
    this.#offsetMs = clock.now() - clock.mono()
    const second = this.second
    this.#lanes = {
      fanout: new LaneMeter(second),
      normal: new LaneMeter(second),
      bulk: new LaneMeter(second),
    }
    this.#turnsAt = this.#endOf(second)
  }

  /** The second that it is now. */
  get second(): number {
    return Math.floor((this.#clock.mono() + this.#offsetMs) / 1000)
  }

  taken(lane: Lane, latenessMs: number, delayMs: number | null): void {
    const meter = this.#lanes[lane]
    count(meter, AT.taken, 1)
    stepOf(meter, LATENESS).record(latenessMs)
    if (delayMs !== null) stepOf(meter, DELAY).record(delayMs)
  }

  started(lane: Lane, waitMs: number): void {
    const meter = this.#lanes[lane]
    count(meter, AT.started, 1)
    stepOf(meter, WAIT).record(waitMs)
  }

  ended(lane: Lane, runMs: number, outcome: RunOutcome | null, tally: number): void {
    const meter = this.#lanes[lane]
    stepOf(meter, RUN).record(runMs)
    if (outcome === null) {
      count(meter, AT.letGo, 1)
      return
    }
    if (outcome !== 'done') count(meter, END[outcome], 1)
    if (outcome === 'retry' || outcome === 'cancel') return
    count(meter, AT.finished, 1)
    count(meter, AT.asked, tally)
  }

  settled(lane: Lane, tookMs: number, result: SettleWord): void {
    const meter = this.#lanes[lane]
    stepOf(meter, SETTLE).record(tookMs)
    count(meter, result === 'settled' ? AT.settled : result === 'gone' ? AT.lost : AT.refused, 1)
  }

  unmarked(lane: Lane, result: Exclude<SettleWord, 'settled'>): void {
    count(this.#lanes[lane], result === 'gone' ? AT.lost : AT.refused, 1)
  }

  /** It is `at` by the monotonic clock: called with every call of the store, so that seconds end in time. */
  turn(at: number): void {
    if (at < this.#turnsAt) return
    const second = Math.floor((at + this.#offsetMs) / 1000)
    for (const lane of LANES) this.#lanes[lane].turn(second)
    this.#turnsAt = this.#endOf(second)
  }

  /** The lanes as they are now. */
  lanes(): { lane: Lane; meter: LaneMeter }[] {
    this.turn(this.#clock.mono())
    return LANES.map((lane) => ({ lane, meter: this.#lanes[lane] }))
  }

  /** Its lanes, and what is of none of them. */
  all(): LaneMeter[] {
    this.#whole.turn(this.second)
    return [...this.lanes().map(({ meter }) => meter), this.#whole]
  }

  #endOf(second: number): number {
    return (second + 1) * 1000 - this.#offsetMs
  }
}

function count({ counts }: LaneMeter, place: number, by: number): void {
  counts[place] = (counts[place] as number) + by
}

function stepOf({ steps }: LaneMeter, place: number): Hdr {
  return steps[place] as Hdr
}

export function countOf(counts: Float64Array, name: Count): number {
  return counts[AT[name]] as number
}

export function placeOf(step: Step): number {
  return STEPS.indexOf(step)
}
