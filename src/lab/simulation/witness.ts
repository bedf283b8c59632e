// Watches the store from outside, after every step: fences never fall, an epoch has one owner, a term one leader, and only
// who holds the fence moves. The history of entries is judged at the end, by the rules [P1] to [P4].
import { type Fence, type FenceStore, poolResource } from '../../fence.ts'
import type { LogEvent } from '../../log/store.ts'
import { partitionOf } from '../../partition.ts'
import type { Decided, Decision, Leader } from '../../roster/store.ts'
import type { MoveRequest, Moved, Pulse, Store } from '../../store.ts'
import { judgeHistory } from '../../testing/check-history.ts'
import type { MovedTick } from '../../testing/check-pool.ts'
import { History, type HistoryRecord } from '../../testing/history.ts'
import type { Clock } from '../../clock.ts'
import { RosterWitness } from './roster-witness.ts'
import type { RaceCounts } from './sometimes.ts'

/** A hint may be lost, and a pulse finds what is due: half a second apart, and a little more for its answer. */
const LATEST_MS = 1000

export interface WitnessParts {
  clock: Clock
  races: RaceCounts
  partitions: number
  /** Whether the process that was this owner is dead. */
  isDead(owner: string): boolean
  /** The time, and when the call that is just taking effect was sent. */
  mono(): number
  sentAt(): number
  /** A member was declared dead. */
  declared(member: string): void
}

export class Witness {
  readonly violations: string[] = []
  readonly #parts: WitnessParts
  readonly #history: History
  readonly #fences = new Map<string, Fence & { seenAt: number }>()
  readonly #leaders = new Map<number, string>()
  readonly #roster = new RosterWitness((violation) => this.say(violation))
  #term = 0
  /** Epochs of before the store went back are lower. */
  #leastEpoch = 0
  /** How many calls there were when all was healed. */
  #healedAfter = Infinity

  constructor(parts: WitnessParts) {
    this.#parts = parts
    this.#history = new History(parts.clock)
  }

  /** The same store, watched. Its calls must come one after the other. */
  wrap(store: Store): Store {
    const recorded = this.#history.wrap(store)
    return {
      ...recorded,
      fences: this.#watchFences(store.fences),
      roster: this.#roster.wrap(this.#watchRoster(store)),
      mover: { move: async (request) => this.#moved(request, await this.#move(recorded, request)) },
      pulse: async (request) => this.#pulsed(await recorded.pulse(request)),
    }
  }

  /** Something is wrong, as who watches one member sees. */
  say(violation: string): void {
    this.violations.push(violation)
  }

  /** Takes what has happened; what is answered is called when the store went back to the state of now. [G6] */
  snapshot(): (least: number) => void {
    const forget = this.#history.snapshot()
    return (least) => {
      forget(least)
      this.#leastEpoch = least
      this.#roster.wentBack()
      for (const [name, fence] of this.#fences) this.#fences.set(name, { ...fence, owner: '' })
    }
  }

  /** From now on nothing goes wrong, and the store's clock does not jump. */
  heal(): void {
    this.#healedAfter = this.#history.records.length
  }

  #watchFences(fences: FenceStore): FenceStore {
    return {
      fences: (resource) => fences.fences(resource),
      release: (resource, claim) => fences.release(resource, claim),
      raise: async (resource, claim) => {
        const raised = await fences.raise(resource, claim)
        for (const fence of await fences.fences(resource)) this.#fence(resource, fence)
        return raised
      },
    }
  }

  #watchRoster({ roster }: Store): Store['roster'] {
    return {
      join: (member, resources) => roster.join(member, resources),
      serve: (member, resources) => roster.serve(member, resources),
      reach: (member, address) => roster.reach(member, address),
      view: () => roster.view(),
      decide: async (decision) => this.#decided(decision, await roster.decide(decision)),
      grant: (owner, grants) => roster.grant(owner, grants),
      leave: (member, grants) => roster.leave(member, grants),
      drain: (member, draining) => roster.drain(member, draining),
      stepDown: (member) => roster.stepDown(member),
      markIdle: (marks) => roster.markIdle(marks),
      forget: (resources, idleForMs) => roster.forget(resources, idleForMs),
    }
  }

  #decided({ dead }: Decision, decided: Decided): Decided {
    if (decided.kind === 'decided') for (const member of dead) this.#parts.declared(member)
    if (decided.kind === 'not-leader')
      this.#parts.races['a leader was none any more when its decision came'] += 1
    return decided
  }

  /** A fence, as it was raised last; undefined: it never was. */
  fenceOf(resource: string, partition: number): Fence | undefined {
    return this.#fences.get(`${resource}/${partition}`)
  }

  #fence(resource: string, fence: Fence): void {
    const name = `${resource}/${fence.partition}`
    const known = this.#fences.get(name)
    if (known === undefined || known.epoch !== fence.epoch || known.owner !== fence.owner)
      this.#fences.set(name, { ...fence, seenAt: this.#parts.mono() })
    if (known === undefined || (known.epoch === fence.epoch && known.owner === fence.owner)) return
    if (fence.epoch < known.epoch)
      this.say(`[F1] the fence of ${name} fell from ${known.epoch} to ${fence.epoch}`)
    if (fence.epoch === known.epoch) this.say(`[F1] ${name} has two owners under epoch ${fence.epoch}`)
    const race = this.#parts.isDead(known.owner)
      ? 'a partition was taken over from the dead'
      : 'a partition was handed over by the living'
    this.#parts.races[race] += 1
  }

  async #move(store: Store, request: MoveRequest): Promise<{ moved: Moved; events: LogEvent[] }> {
    const before = this.#history.records.length
    const moved = await store.mover.move(request)
    const record = this.#history.records[before]
    return { moved, events: record?.call === 'move' ? record.events : [] }
  }

  #moved({ pool, claim }: MoveRequest, { moved, events }: { moved: Moved; events: LogEvent[] }): Moved {
    if (moved.refused.length > 0) this.#parts.races['a fenced write was refused'] += 1
    if (moved.refused.length > 0 && claim.held.some(({ epoch }) => epoch < this.#leastEpoch))
      this.#parts.races['a claim of before the store went back was refused'] += 1
    const raised = moved.refused.map((partition) => this.#fences.get(`${poolResource(pool)}/${partition}`))
    if (raised.some((fence) => fence !== undefined && fence.seenAt >= this.#parts.sentAt()))
      this.#parts.races['a partition was taken over while a move was under way'] += 1
    for (const { key, id } of events) {
      const partition = partitionOf(key, this.#parts.partitions)
      const fence = this.#fences.get(`${poolResource(pool)}/${partition}`)
      const held = claim.held.find((each) => each.partition === partition)
      if (fence?.owner !== claim.owner || fence.epoch !== held?.epoch) {
        this.say(
          `[F2] ${claim.owner} moved ${id} of partition ${partition}, whose fence is ${fence?.owner}’s`,
        )
      }
    }
    return moved
  }

  #pulsed(pulse: Pulse): Pulse {
    if (pulse.beaten !== null) this.#roster.beaten(pulse.beaten, pulse.now)
    if (pulse.beaten?.known === true && pulse.beaten.leader !== null) this.#leads(pulse.beaten.leader)
    return pulse
  }

  #leads({ term, member }: Leader): void {
    const known = this.#leaders.get(term)
    if (known !== undefined && known !== member) this.say(`[K1] ${known} and ${member} lead in term ${term}`)
    this.#leaders.set(term, member)
    if (term < this.#term) this.say(`[K1] the term fell from ${this.#term} to ${term}`)
    if (this.#term > 0 && term > this.#term) this.#parts.races['the leader changed'] += 1
    this.#term = term
  }

  /** What is wrong with all that happened. To be called at the end, when all members have stopped. */
  async judge(
    store: Store,
    { pools, topic, calmFrom }: { pools: readonly string[]; topic: string; calmFrom: number },
  ): Promise<string[]> {
    const held = await Promise.all(
      pools.map(async (name) => {
        const { entries } = await store.pool.browse.list(name, { limit: 1_000_000 })
        return [name, entries] as const
      }),
    )
    const history = judgeHistory(this.#history.records, { entries: new Map(held) })
    const { events, gaps } = await this.#readAll(store, topic)
    return [
      ...this.violations,
      ...history.violations,
      ...gaps,
      ...this.#unpublished(topic, events),
      ...this.#putTwice(),
      ...this.#late(history.moved, calmFrom).map(
        ({ id, dueAt, movedAt }) => `[T2] ${id} moved ${movedAt - dueAt} ms late, with nothing in its way`,
      ),
    ]
  }

  /** Those moved late that fell due when it was calm. A clock that jumped before may have shown the same times already. */
  #late(moved: Map<HistoryRecord, MovedTick[]>, calmFrom: number): MovedTick[] {
    const calls = this.#history.records.slice(this.#healedAfter)
    const ticks = calls.flatMap((record) => moved.get(record) ?? [])
    return ticks.filter(({ dueAt, movedAt }) => dueAt > calmFrom && movedAt - dueAt > LATEST_MS)
  }

  /** Requests that were made again while their answers were kept, and counted again. [R2] [R4] */
  #putTwice(): string[] {
    const keptUntil = new Map<string, number>()
    const twice: string[] = []
    let latest = -Infinity
    for (const record of this.#history.records) {
      latest = Math.max(latest, record.now)
      if (record.call !== 'put') continue
      for (const [nth, { repeat }] of record.requests.entries()) {
        const response = record.responses[nth]
        if (repeat === null || response?.kind !== 'answered' || response.replayed) continue
        if (latest < (keptUntil.get(repeat.id) ?? -Infinity))
          twice.push(`[R2] the request ${repeat.id} was made again, and put again`)
        keptUntil.set(repeat.id, record.now + repeat.keepMs)
      }
    }
    return twice
  }

  /** Ticks that were settled by themselves, and are no events; their pool has the name of their topic. */
  #unpublished(pool: string, events: readonly LogEvent[]): string[] {
    const settled = this.#history.records.flatMap((record) =>
      record.call === 'settle' && record.pool === pool
        ? record.settlements.filter((_, nth) => record.answers[nth]?.result === 'settled')
        : [],
    )
    const moved = this.#history.records.flatMap((record) => (record.call === 'move' ? record.events : []))
    const moves = new Set(moved.map(({ partition, offset }) => `${partition} ${offset}`))
    const left = events.filter(({ partition, offset }) => !moves.has(`${partition} ${offset}`))
    const lost = settled.filter(({ key, outcome }) => {
      const nth = left.findIndex((event) => event.key === key)
      if (nth >= 0) left.splice(nth, 1)
      return outcome.kind === 'done' && nth < 0
    })
    return lost.map(({ key }) => `[P1] a tick of ${key} was settled, and never became an event`)
  }

  async #readAll(store: Store, topic: string): Promise<{ events: LogEvent[]; gaps: string[] }> {
    const all: LogEvent[] = []
    const gaps: string[] = []
    for (const { partition, head } of (await store.log.topic(topic)).bounds) {
      const request = { from: [{ partition, offset: 0 }], limit: 1_000_000, maxBytes: Infinity }
      const { events } = await store.log.read(topic, request)
      const isWhole = events.length === head && events.every(({ offset }, nth) => offset === nth)
      if (!isWhole) gaps.push(`[L2] partition ${partition} of ${topic} has gaps`)
      all.push(...events)
    }
    return { events: all, gaps }
  }
}
