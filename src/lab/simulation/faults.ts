// What becomes of each call to the store, of each hint, and of a member at each point, drawn as they come.
import type { FaultPoint } from '../../fault.ts'
import type { Random } from '../../random.ts'
import type { CallFaults, Swarm } from './swarm.ts'

export interface Fate {
  kind: 'refused' | 'cut' | 'answered'
  /** How long it is on its way to the store, and back. */
  thereMs: number
  backMs: number
  /** How long its sender stands still before, in leases. */
  stallLeases: number
  /** When its sender dies; null: not of this call. */
  dies: 'before' | 'after' | null
  /** Where the answer is lost, and a repeat does no harm, it is made again after so long; null: it is not. */
  againInMs: number | null
}

const NO_FAULT: Fate = {
  kind: 'answered',
  thereMs: 0,
  backMs: 0,
  stallLeases: 0,
  dies: null,
  againInMs: null,
}
const AT_ONCE = [0]
const NEVER: readonly number[] = []

/** Calls that are made by what their sender knew before: it stands still before these so much more often. */
const DECISIVE =
  /^(mover\.move|roster\.(decide|grant)|fences\.raise|pool\.entries\.settle|arrivals\.foldPuts)$/
const DECISIVE_TIMES = 8

/** Points that every member comes to all the time; at the others it dies so much more often. */
const COMMON = /^(put|move|beat)\./
const RARE = 10

/** The longest pause before a call is made again; as that of the PostgreSQL store. */
const LONGEST_PAUSE_MS = 800

export class Faults {
  readonly #random: Random
  readonly #calls: CallFaults
  readonly #spared: ReadonlySet<number>
  #isHealed = false
  #draws = 0
  /** How many calls and members met one. */
  count = 0
  /** The numbers of the draws that were a fault: any of them can be spared. */
  readonly struck: number[] = []

  constructor(random: Random, { calls, spared }: Pick<Swarm, 'calls' | 'spared'>) {
    this.#random = random
    this.#calls = calls
    this.#spared = new Set(spared)
  }

  /** From now on nothing goes wrong. */
  heal(): void {
    this.#isHealed = true
  }

  /** `path` names the call. */
  call(path: string): Fate {
    if (this.#isHealed) return NO_FAULT
    const fate = this.#fate(path)
    const isFault = fate.kind !== 'answered' || fate.dies !== null || fate.stallLeases > 0
    const isSlow = Math.max(fate.thereMs, fate.backMs) > this.#calls.latencyMs
    if (!this.#strikes(isFault || isSlow)) return NO_FAULT
    if (isFault) this.count += 1
    return fate
  }

  /** Whether what was just drawn is carried out. */
  #strikes(isFault: boolean): boolean {
    this.#draws += 1
    if (!isFault) return true
    if (this.#spared.has(this.#draws)) return false
    this.struck.push(this.#draws)
    return true
  }

  #fate(path: string): Fate {
    const { refused, cut, crash, stalled, again } = this.#calls
    const drawn = this.#random.next()
    const kind = drawn < refused ? 'refused' : drawn < refused + cut ? 'cut' : 'answered'
    const dies = this.#random.next() < crash ? this.#random.pick(['before', 'after'] as const) : null
    const stallRate = stalled * (DECISIVE.test(path) ? DECISIVE_TIMES : 1)
    const stallLeases = this.#random.next() < stallRate ? 0.5 + 3 * this.#random.next() : 0
    const isAgain = kind === 'cut' && this.#random.next() < again
    const againInMs = isAgain ? this.#random.below(LONGEST_PAUSE_MS) : null
    return { kind, thereMs: this.#delay(), backMs: this.#delay(), stallLeases, dies, againInMs }
  }

  /** Whether the member that has come to some point dies there. */
  diesAt(point: FaultPoint): boolean {
    const rate = this.#calls.point * (COMMON.test(point) ? 1 : RARE)
    if (this.#isHealed || this.#random.next() >= rate || !this.#strikes(true)) return false
    this.count += 1
    return true
  }

  /** How long a hint is under way, and each repeat of it; none: it is lost. */
  hint(): readonly number[] {
    const { hintLost, hintRepeated } = this.#calls
    // Also when all is healed: nothing may depend on a hint.
    const isLost = this.#random.next() < hintLost
    if (this.#isHealed) return isLost ? NEVER : AT_ONCE
    const first = this.#delay()
    const isRepeated = !isLost && this.#random.next() < hintRepeated
    if (!this.#strikes(isLost || isRepeated)) return [first]
    if (isLost) return NEVER
    return isRepeated ? [first, this.#delay()] : [first]
  }

  #delay(): number {
    const { delayed, longestDelayMs, latencyMs } = this.#calls
    const most = this.#random.next() < delayed ? longestDelayMs : latencyMs
    return most === 0 ? 0 : Math.round(this.#random.next() * most)
  }
}
