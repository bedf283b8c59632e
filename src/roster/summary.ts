// The roster as people read it: members, leader, shares, moves and overlap, with names beside ids and times as text.
// Pure; the server answers it, and the command line reads the same from a store.
import { toIso } from '../clock.ts'
import type { ServiceState } from '../service.ts'
import { type Fences, countPartitions, overlapsOf } from './overlap.ts'
import { changesOf } from './plan.ts'
import type { Timing } from './settings.ts'
import type { Allotment, Leader, Member, Resource, RosterView } from './store.ts'

export interface RosterSummary {
  /** The store's clock. */
  now: string
  /** The lease of who answers; every member should have the same. */
  leaseMs: number
  /** Null: nobody leads. */
  leader: LeaderSummary | null
  members: MemberSummary[]
  resources: ResourceSummary[]
  /** Partitions that two members believe to own. It must be 0. [O1] */
  overlap: number
}

export interface LeaderSummary {
  member: string
  name: string
  term: number
  expiresAt: string
  /** The lease of the leader, as its last beat shows it; null: it is no member. */
  leaseMs: number | null
}

export interface MemberSummary {
  id: string
  name: string
  address: string | null
  version: string
  weight: number
  /** Whether it may lead. */
  leads: boolean
  /** Its lease; null: it was not said. */
  leaseMs: number | null
  joinedAt: string
  heartbeatAgeMs: number
  /** Its heartbeat is older than the lease. */
  silent: boolean
  draining: boolean
  health: Readonly<Record<string, ServiceState>>
  serves: string[]
  /** Partitions that are allotted to it. */
  partitions: number
}

export interface ResourceSummary {
  name: string
  partitions: number
  owners: { member: string; name: string; partitions: number; since: string }[]
  /** Partitions whose owner is no member. */
  unowned: number
  /** How often partitions have changed hands. */
  moves: number
  /** Partitions that are about to be handed over. */
  moving: number
  /** When a partition last changed hands; null: none was ever allotted. */
  since: string | null
}

export interface AllotmentSummary {
  resource: string
  partition: number
  owner: string
  /** Null: the owner is no member any more. */
  ownerName: string | null
  epoch: number
  next: string | null
  nextName: string | null
  since: string
  moves: number
}

/** A partition that is to change hands; `from` null: nobody had it. */
export interface Move {
  resource: string
  partition: number
  from: string | null
  fromName: string | null
  to: string
  toName: string | null
}

export function summaryOf(view: RosterView, fences: Fences, timing: Timing): RosterSummary {
  return {
    now: toIso(view.now),
    leaseMs: timing.leaseMs,
    leader: leaderOf(view),
    members: view.members.toSorted(byName).map((member) => memberOf(view, member, timing)),
    resources: view.resources.toSorted(byName).map((resource) => resourceOf(view, resource)),
    overlap: countPartitions(overlapsOf(view, fences, timing.trustMs)),
  }
}

/** The leader whose lease is not over. */
function leaderOf(view: RosterView): LeaderSummary | null {
  const leader: Leader | null = view.leader
  if (leader === null || leader.expiresAt <= view.now) return null
  const member = view.members.find(({ id }) => id === leader.member)
  return {
    member: leader.member,
    name: member?.name ?? leader.member,
    term: leader.term,
    expiresAt: toIso(leader.expiresAt),
    // A leader renews its lease with the beat that moves its heartbeat.
    leaseMs: member === undefined ? null : leader.expiresAt - member.heartbeatAt,
  }
}

function memberOf(view: RosterView, member: Member, timing: Timing): MemberSummary {
  const { id, name, address, version, weight, leads, leaseMs, draining, health } = member
  const age = view.now - member.heartbeatAt
  return {
    id,
    name,
    address,
    version,
    weight,
    leads,
    leaseMs,
    joinedAt: toIso(member.joinedAt),
    heartbeatAgeMs: age,
    silent: age > timing.leaseMs,
    draining,
    health,
    serves: member.serves.toSorted(),
    partitions: view.allotments.filter(({ owner }) => owner === id).length,
  }
}

function resourceOf(view: RosterView, { name, partitions }: Resource): ResourceSummary {
  const allotted = view.allotments.filter(({ resource }) => resource === name)
  const owners = view.members.toSorted(byName).flatMap((member) => {
    const own = allotted.filter(({ owner }) => owner === member.id)
    if (own.length === 0) return []
    return [{ member: member.id, name: member.name, partitions: own.length, since: latest(own) }]
  })
  const owned = owners.reduce((sum, { partitions: count }) => sum + count, 0)
  return {
    name,
    partitions,
    owners,
    unowned: partitions - owned,
    moves: allotted.reduce((sum, { moves }) => sum + moves, 0),
    moving: allotted.filter(({ next }) => next !== null).length,
    since: allotted.length === 0 ? null : latest(allotted),
  }
}

function latest(allotments: readonly Allotment[]): string {
  return toIso(Math.max(...allotments.map(({ since }) => since)))
}

/** Every allotment, or those of one resource, by resource and partition. */
export function allotmentsOf(view: RosterView, resource?: string): AllotmentSummary[] {
  const nameOf = namesOf(view)
  return view.allotments
    .filter((allotment) => resource === undefined || allotment.resource === resource)
    .toSorted(byPlace)
    .map(({ resource, partition, owner, epoch, next, since, moves }) => ({
      resource,
      partition,
      owner,
      ownerName: nameOf(owner),
      epoch,
      next,
      nextName: next === null ? null : nameOf(next),
      since: toIso(since),
      moves,
    }))
}

/** The moves that the leader would begin now; `without`: if these members were told to drain. [O2] */
export function plannedMoves(view: RosterView, timing: Timing, without: readonly string[] = []): Move[] {
  const silent = view.members.filter(({ heartbeatAt }) => heartbeatAt < view.now - timing.leaseMs)
  const changes = changesOf(view, { dead: silent.map(({ id }) => id), without })
  const nameOf = namesOf(view)
  return changes.flatMap(({ resource, partition, from, to }): Move[] => {
    const owner = from?.owner ?? null
    const heir = to.next ?? to.owner
    // A revoke that is taken back, or a grant above a fence, moves nothing.
    if (heir === owner) return []
    const fromName = owner === null ? null : nameOf(owner)
    return [{ resource, partition, from: owner, fromName, to: heir, toName: nameOf(heir) }]
  })
}

/** The moves that are begun: their owners hand over when nothing of the partition is in flight. */
export function movesUnderWay(view: RosterView): Move[] {
  const nameOf = namesOf(view)
  return view.allotments.toSorted(byPlace).flatMap(({ resource, partition, owner, next }): Move[] => {
    if (next === null) return []
    return [{ resource, partition, from: owner, fromName: nameOf(owner), to: next, toName: nameOf(next) }]
  })
}

function namesOf(view: RosterView): (id: string) => string | null {
  const names = new Map(view.members.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? null
}

function byPlace(a: Allotment, b: Allotment): number {
  return compareText(a.resource, b.resource) || a.partition - b.partition
}

function byName(a: { name: string; id?: string }, b: typeof a): number {
  return compareText(a.name, b.name) || compareText(a.id ?? '', b.id ?? '')
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
