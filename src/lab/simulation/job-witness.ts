// Watches the work of all members together: that a turn is started once unless its first run was lost, that only who holds
// the fence settles, and that what falls due when all is well is started soon.
import type { Clock } from '../../clock.ts'
import {
  type Claim,
  type Fence,
  type FenceStore,
  type NewClaim,
  type Raised,
  poolResource,
} from '../../fence.ts'
import type { TakenRun } from '../../pool/entry.ts'
import type { Settlement } from '../../pool/settle.ts'
import type { MarkAnswer, SettleAnswer } from '../../pool/store.ts'
import type { Store } from '../../store.ts'
import { JOBS } from './jobs.ts'
import { type Made, isLetGo, turnOf } from './made.ts'
import type { RaceCounts } from './sometimes.ts'

/** A hint may be lost, and a pulse finds what is due: half a second apart, and a little more for its answer. */
const LATEST_MS = 1000

/** By then calls that were under way when all was healed have failed. */
const CALM_AFTER_MS = 6000

export interface JobWitnessParts {
  storeClock: Clock
  /** How long a handler takes at most. */
  slowestMs: number
  races: RaceCounts
  /** A fence of a resource, as it was last seen. */
  fenceOf(resource: string, partition: number): Fence | undefined
  say(violation: string): void
}

interface Owned {
  owner: string
  epoch: number
  most: number
  left: number
}

export class JobWitness {
  readonly #parts: JobWitnessParts
  /** The last run of each turn. */
  readonly #runs = new Map<string, Made>()
  /** The key of each turn that a take answered: none is given again, also when the store went back. [G6] */
  readonly #keys = new Map<number, string>()
  /** Epochs of before the store went back are lower. */
  #leastEpoch = 0
  /** The partition of each entry that a take answered, by key and turn. */
  readonly #partitions = new Map<string, number>()
  /** Who holds each fence, how many runs it may have under way, and how many the one before may have had. */
  readonly #underWay = new Map<number, Owned>()
  #late: { key: string; dueAt: number; lateMs: number }[] = []
  /** By the store's clock. */
  #healedAt = Infinity

  constructor(parts: JobWitnessParts) {
    this.#parts = parts
  }

  say(violation: string): void {
    this.#parts.say(violation)
  }

  /** The same store, watched on the pool of jobs: ticks have fences of their own. Its calls must come one after the other. */
  wrap(store: Store): Store {
    const { entries } = store.pool
    const take: typeof entries.take = async (pool, request) => {
      const taken = await entries.take(pool, request)
      if (pool === JOBS) for (const run of taken.runs) this.#taken(run)
      return taken
    }
    const settle: typeof entries.settle = async (pool, settlements, claim) => {
      const answers = await entries.settle(pool, settlements, claim)
      if (pool === JOBS)
        for (const [nth, settlement] of settlements.entries())
          this.#settled(settlement, answers[nth] as SettleAnswer, claim)
      return answers
    }
    const progress = { ...store.pool.progress, tell: this.#tell(store) }
    const pool = { ...store.pool, entries: { ...entries, take, settle, mark: this.#mark(store) }, progress }
    return { ...store, fences: this.#fences(store.fences), pool }
  }

  /** Takes what has happened; what is answered is called when the store went back to the state of now. [G6] */
  snapshot(): (least: number) => void {
    const settled = new Set(
      [...this.#runs].filter(([, { answer }]) => answer === 'settled').map(([turn]) => turn),
    )
    return (least) => {
      for (const turn of this.#runs.keys()) if (!settled.has(turn)) this.#runs.delete(turn)
      this.#underWay.clear()
      this.#leastEpoch = least
    }
  }

  #taken({ key, turn, partition }: TakenRun): void {
    const before = this.#keys.get(turn) ?? key
    if (before !== key) this.say(`[G6] turn ${turn} was given to ${before}, and again to ${key}`)
    this.#keys.set(turn, key)
    this.#partitions.set(`${turn} ${key}`, partition)
  }

  /** A raise by another owner tells what the one before may have had under way, unless it has released the fence. [X43] */
  #fences(fences: FenceStore): FenceStore {
    return {
      ...fences,
      raise: async (resource, claim) => {
        const answers = await fences.raise(resource, claim)
        if (resource === poolResource(JOBS)) for (const answer of answers) this.#raised(answer, claim)
        return answers
      },
      release: async (resource, claim) => {
        await fences.release(resource, claim)
        if (resource !== poolResource(JOBS)) return
        for (const { partition } of claim.held.filter((held) => this.#isHeld(held.partition, claim)))
          this.#underWay.set(partition, { ...this.#owned(partition), most: 0 })
      },
    }
  }

  #raised({ partition, raised, suspects }: Raised, { owner, held, concurrency: most = 0 }: NewClaim): void {
    const epoch = held.find((each) => each.partition === partition)?.epoch
    if (!raised || epoch === undefined) return
    const before = this.#owned(partition)
    const isAgain = before.owner === owner && before.epoch === epoch
    const left = isAgain ? before.left : before.owner === owner ? 0 : before.most
    if (suspects !== left)
      this.say(`[X43] ${owner} raised ${partition}, and was told of ${suspects} suspects, not ${left}`)
    this.#underWay.set(partition, { owner, epoch, most, left })
  }

  #owned(partition: number): Owned {
    return this.#underWay.get(partition) ?? { owner: '', epoch: 0, most: 0, left: 0 }
  }

  /** Who does not hold the fence marks nothing. [X41] [P5] */
  #mark({ pool: { entries } }: Store): typeof entries.mark {
    return async (pool, marks, claim) => {
      const answers = await entries.mark(pool, marks, claim)
      if (pool !== JOBS) return answers
      for (const [nth, { key, turn }] of marks.entries()) {
        const partition = this.#partitions.get(`${turn} ${key}`)
        const isHeld = this.#isHeld(partition, claim)
        const { result } = answers[nth] as MarkAnswer
        if (result === 'marked' && !isHeld)
          this.say(
            `[P5] ${claim.owner} marked ${key} of partition ${partition}, whose fence it does not hold`,
          )
        if (result === 'refused' && isHeld)
          this.say(
            `[X41] a mark of ${key} by ${claim.owner} was refused, and it holds partition ${partition}`,
          )
      }
      return answers
    }
  }

  /** What is told under a right that is another's is not kept. [Z5] */
  #tell({ pool: { progress } }: Store): typeof progress.tell {
    return async (pool, told, claim) => {
      if (pool !== JOBS) return progress.tell(pool, told, claim)
      const { races } = this.#parts
      const fenced = told.filter(({ key, turn }) =>
        this.#isHeld(this.#partitions.get(`${turn} ${key}`), claim),
      )
      const kept = await progress.tell(pool, told, claim)
      if (kept > 0) races['a run told how far it has come'] += 1
      if (kept < told.length) races['what a run told came too late'] += 1
      if (kept > fenced.length)
        this.say(`[Z5] ${claim.owner} told of ${kept} runs, and holds the fences of ${fenced.length}`)
      return kept
    }
  }

  #isHeld(partition: number | undefined, { owner, held }: Claim): boolean {
    const fence = this.#parts.fenceOf(poolResource(JOBS), partition ?? -1)
    const epoch = held.find((each) => each.partition === partition)?.epoch
    return fence?.owner === owner && fence.epoch === epoch
  }

  #settled({ key, turn, outcome }: Settlement, { result }: SettleAnswer, claim: Claim): void {
    const { races } = this.#parts
    if (result === 'gone') races['a settle found its turn gone'] += 1
    if (result === 'refused') races['a settle was refused by its fence'] += 1
    if (result === 'refused' && claim.held.some(({ epoch }) => epoch < this.#leastEpoch))
      races['a claim of before the store went back was refused'] += 1
    if (result !== 'settled') return
    if (outcome.kind === 'dead') races['a run was given up'] += 1
    const partition = this.#partitions.get(`${turn} ${key}`)
    if (!this.#isHeld(partition, claim))
      this.say(`[P5] ${claim.owner} settled ${key} of partition ${partition}, whose fence it does not hold`)
  }

  started(made: Made): void {
    const { storeClock } = this.#parts
    const { taken } = made
    // Its member has not met yet that the store went back: what it starts counts for nothing, and is not settled.
    if (made.epoch < this.#leastEpoch) return
    const before = this.#runs.get(turnOf(taken))
    if (before !== undefined) this.#again(before, made)
    this.#runs.set(turnOf(taken), made)
    const lateMs = storeClock.now() - taken.dueAt
    if (this.#healedAt < Infinity && lateMs > LATEST_MS)
      this.#late.push({ key: taken.key, dueAt: taken.dueAt, lateMs })
  }

  /** A turn is started again: only if its run before was lost, or let go. [P3] */
  #again(before: Made, made: Made): void {
    const { races } = this.#parts
    if (isLetGo(before)) races['a run was let go, and run again'] += 1
    if (before.ending === null && before.life.isDead && before.life !== made.life)
      races['a run died with its member, and was run by another'] += 1
    const again = `${made.life.name} started turn ${made.taken.turn} of ${made.taken.key} again`
    if (before.answer === 'settled') this.say(`[X3] ${again}, and it was settled`)
    else if (before.epoch === made.epoch && !isLetGo(before) && before.answer !== 'refused')
      this.say(`[P3] ${again}, and nothing was lost since it ended with ${before.ending}`)
  }

  /** The store's time, if it has been right, and calls were answered, for a while; null: it has not. */
  get calmNow(): number | null {
    const now = this.#parts.storeClock.now()
    return now > this.#healedAt + CALM_AFTER_MS ? now : null
  }

  heal(): void {
    this.#healedAt = this.#parts.storeClock.now()
  }

  /** What fell due when it was calm, and was started late. */
  judge(calmFrom: number): string[] {
    // By then no handler is in the way that was started before all was healed.
    const freeFrom = Math.max(calmFrom, this.#healedAt + this.#parts.slowestMs)
    return this.#late
      .filter(({ dueAt }) => dueAt > freeFrom)
      .map(({ key, lateMs }) => `[X10] ${key} was started ${lateMs} ms late, with nothing in its way`)
  }
}
