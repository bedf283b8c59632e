// The roster in memory: the reading of the rules that other stores are compared with.
import type { Clock } from '../../clock.ts'
import type {
  Allotment,
  AllotmentChange,
  Beat,
  Beaten,
  Decided,
  Decision,
  Grant,
  IdleMarks,
  Leader,
  Member,
  NewMember,
  Resource,
  RosterStore,
  RosterView,
} from '../../roster/store.ts'
import { refuseOtherResource } from '../../roster/refuse.ts'
import type { Hint } from '../../store.ts'
import type { Commit } from './commit.ts'
import { type Keep, keepMap } from './snapshots.ts'

export class MemoryRoster implements RosterStore {
  readonly #clock: Clock
  readonly #commit: Commit
  readonly #hint: (hint: Hint) => void
  readonly #members = new Map<string, Member>()
  readonly #resources = new Map<string, Resource>()
  readonly #allotments = new Map<string, Allotment>()
  readonly #idle = new Map<string, number>()
  #epochFloor = 0
  /** No new allotment has a lower epoch. */
  #leastEpoch = 0
  #leader: Leader | null = null
  #version = 0

  constructor({ clock, commit, hint }: { clock: Clock; commit: Commit; hint: (hint: Hint) => void }) {
    this.#clock = clock
    this.#commit = commit
    this.#hint = hint
  }

  async join(member: NewMember, resources: readonly Resource[]): Promise<void> {
    return this.#commit('roster', () => this.#join(member, resources))
  }

  #join(member: NewMember, resources: readonly Resource[]): void {
    this.#register(resources)
    const now = this.#clock.now()
    const unsaid = { draining: false, health: {}, holding: {}, refused: [] }
    this.#members.set(member.id, { ...member, joinedAt: now, heartbeatAt: now, ...unsaid })
    this.#changed()
  }

  async serve(id: string, resources: readonly Resource[]): Promise<void> {
    return this.#commit('roster', () => this.#serve(id, resources))
  }

  #serve(id: string, resources: readonly Resource[]): void {
    const member = this.#members.get(id)
    if (member === undefined) return
    this.#register(resources)
    const serves = new Set([...member.serves, ...resources.map(({ name }) => name)])
    this.#members.set(id, { ...member, serves: [...serves] })
    this.#changed()
  }

  async reach(id: string, address: string | null): Promise<void> {
    return this.#commit('roster', () => this.#reach(id, address))
  }

  #reach(id: string, address: string | null): void {
    const member = this.#members.get(id)
    if (member === undefined) return
    this.#members.set(id, { ...member, address })
    this.#changed()
  }

  async view(): Promise<RosterView> {
    return {
      now: this.#clock.now(),
      version: this.#version,
      leader: this.#leader,
      members: [...this.#members.values()],
      resources: [...this.#resources.values()],
      allotments: [...this.#allotments.values()],
      idle: Object.fromEntries(this.#idle),
      epochFloor: this.#epochFloor,
    }
  }

  /** The roster's part of a pulse. */
  beat(beat: Beat): Beaten {
    return this.#commit('beat', () => this.#beat(beat))
  }

  #beat(beat: Beat): Beaten {
    const member = this.#members.get(beat.member)
    if (member === undefined) return { known: false }
    const now = this.#clock.now()
    const { health, holding, refused } = beat
    this.#members.set(member.id, { ...member, heartbeatAt: now, health, holding, refused })
    if (JSON.stringify(refused) !== JSON.stringify(member.refused)) this.#changed()
    this.#lead(beat, now)
    const silent = [...this.#members.values()].filter(({ heartbeatAt }) => heartbeatAt < now - beat.leaseMs)
    return {
      known: true,
      previousAt: member.heartbeatAt,
      leader: this.#leader,
      version: this.#version,
      silent: silent.map(({ id }) => id),
    }
  }

  #lead({ member, leads, leaseMs }: Beat, now: number): void {
    if (!leads) return
    this.#cutLease(now, leaseMs)
    const isFree = this.#leader === null || this.#leader.expiresAt <= now
    if (!isFree && this.#leader?.member !== member) return
    const term = isFree ? (this.#leader?.term ?? 0) + 1 : (this.#leader as Leader).term
    this.#leader = { member, term, expiresAt: now + leaseMs }
    this.#bringBack(now)
  }

  /** A lease that ends later than one can was written before the clock was set back. [K6] */
  #cutLease(now: number, leaseMs: number): void {
    if (this.#leader === null) return
    const longestMs = Math.max(leaseMs, this.#members.get(this.#leader.member)?.leaseMs ?? 0)
    const expiresAt = Math.min(this.#leader.expiresAt, now + longestMs)
    this.#leader = { ...this.#leader, expiresAt }
  }

  /** Heartbeats of the time before the clock was set back count as of now. [K6] */
  #bringBack(now: number): void {
    for (const member of this.#members.values())
      if (member.heartbeatAt > now) this.#members.set(member.id, { ...member, heartbeatAt: now })
  }

  async decide(decision: Decision): Promise<Decided> {
    return this.#commit('roster', () => this.#decide(decision))
  }

  #decide(decision: Decision): Decided {
    const now = this.#clock.now()
    const { leader, term, leaseMs, gapMs, dead, changes } = decision
    const lease = this.#leader
    if (lease === null || lease.member !== leader || lease.term !== term || lease.expiresAt <= now) {
      return { kind: 'not-leader' }
    }
    const own = this.#members.get(leader)
    if (own === undefined || own.heartbeatAt < now - gapMs) return { kind: 'unsure' }
    if (dead.some((id) => (this.#members.get(id)?.heartbeatAt ?? -Infinity) >= now - leaseMs)) {
      return { kind: 'alive' }
    }
    for (const id of dead) this.#members.delete(id)
    const applied = changes.filter((change) => this.#change(change, now)).length
    if (applied > 0 || dead.length > 0) this.#changed()
    return { kind: 'decided', applied }
  }

  #change({ resource, partition, from, to }: AllotmentChange, now: number): boolean {
    const name = nameOf(resource, partition)
    const current = this.#allotments.get(name)
    if (from === null ? current !== undefined : current === undefined || !isSame(current, from)) return false
    const stays = current?.owner === to.owner
    const moves = current === undefined ? 0 : current.moves + (stays ? 0 : 1)
    const since = stays ? current.since : now
    const epoch = Math.max(to.epoch, this.#leastEpoch)
    this.#allotments.set(name, { resource, partition, ...to, epoch, since, moves })
    return true
  }

  async grant(owner: string, grants: readonly Grant[]): Promise<boolean[]> {
    return this.#commit('roster', () => this.#grant(owner, grants))
  }

  #grant(owner: string, grants: readonly Grant[]): boolean[] {
    const now = this.#clock.now()
    const answers = grants.map(({ resource, partition, epoch, next, to }) => {
      const change = { from: { owner, epoch, next }, to: { owner: to, epoch: epoch + 1, next: null } }
      return this.#change({ resource, partition, ...change }, now)
    })
    if (answers.includes(true)) this.#changed()
    return answers
  }

  async leave(id: string, grants: readonly Grant[]): Promise<void> {
    return this.#commit('roster', () => this.#leave(id, grants))
  }

  #leave(id: string, grants: readonly Grant[]): void {
    this.#grant(id, grants)
    this.#stepDown(id)
    if (this.#members.delete(id)) this.#changed()
  }

  async drain(id: string, draining: boolean): Promise<boolean> {
    return this.#commit('roster', () => this.#drain(id, draining))
  }

  #drain(id: string, draining: boolean): boolean {
    const member = this.#members.get(id)
    if (member === undefined) return false
    this.#members.set(id, { ...member, draining })
    this.#changed()
    return true
  }

  async stepDown(id: string): Promise<boolean> {
    return this.#commit('roster', () => this.#stepDown(id))
  }

  #stepDown(id: string): boolean {
    const now = this.#clock.now()
    if (this.#leader === null || this.#leader.member !== id || this.#leader.expiresAt <= now) return false
    this.#leader = { ...this.#leader, expiresAt: now }
    this.#changed()
    return true
  }

  #register(resources: readonly Resource[]): void {
    for (const resource of resources) refuseOtherResource(this.#resources.get(resource.name), resource)
    for (const resource of resources) this.#resources.set(resource.name, resource)
    for (const { name } of resources) this.#idle.delete(name)
  }

  async markIdle({ idle, busy }: IdleMarks): Promise<void> {
    return this.#commit('roster', () => {
      for (const name of idle) if (this.#resources.has(name)) this.#idle.set(name, this.#clock.now())
      for (const name of busy) this.#idle.delete(name)
    })
  }

  async forget(resources: readonly string[], idleForMs: number): Promise<string[]> {
    return this.#commit('roster', () => this.#forget(resources, idleForMs))
  }

  #forget(resources: readonly string[], idleForMs: number): string[] {
    const until = this.#clock.now() - idleForMs
    const served = new Set([...this.#members.values()].flatMap(({ serves }) => serves))
    const removed = resources.filter(
      (name) =>
        (this.#idle.get(name) ?? Infinity) <= until && !served.has(name) && this.#resources.delete(name),
    )
    for (const name of removed) this.#idle.delete(name)
    const gone = new Set(resources.filter((name) => !this.#resources.has(name)))
    const left = [...this.#allotments].filter(([, { resource }]) => gone.has(resource))
    for (const [name, { epoch }] of left) {
      this.#allotments.delete(name)
      this.#epochFloor += epoch
    }
    if (removed.length > 0 || left.length > 0) this.#changed()
    return removed
  }

  /** Nobody is a member then, and nobody leads. */
  readonly snapshot: Keep = () => {
    const kept = [keepMap(this.#resources), keepMap(this.#idle), keepMap(this.#allotments)]
    return (least) => {
      for (const goBack of kept) goBack()
      this.#members.clear()
      this.#leastEpoch = least
      for (const [name, allotment] of this.#allotments) {
        const epoch = Math.max(allotment.epoch + 1, least)
        this.#allotments.set(name, { ...allotment, epoch, next: null })
      }
      if (this.#leader !== null)
        this.#leader = { ...this.#leader, term: Math.max(this.#leader.term + 1, least), expiresAt: 0 }
      this.#version += 1
    }
  }

  #changed(): void {
    this.#version += 1
    this.#hint({ kind: 'roster' })
  }
}

function nameOf(resource: string, partition: number): string {
  return `${partition} ${resource}`
}

function isSame(current: Allotment, from: { owner: string; epoch: number; next: string | null }): boolean {
  return current.owner === from.owner && current.epoch === from.epoch && current.next === from.next
}
