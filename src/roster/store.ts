// The port of the roster's store: members, one leader, allotments, and named locks. The beat of a member is a part of
// the store's pulse. Rules in brackets are those of docs/spec/roster.md.
import type { Held } from '../fence.ts'
import type { ServiceState } from '../service.ts'

/** Something whose partitions are allotted to members. */
export interface Resource {
  name: string
  partitions: number
}

/** What a member says of itself when it joins. */
export interface NewMember {
  /** Random, of this one life: a member that was declared dead joins under another. */
  id: string
  /** For people: host and process unless said. */
  name: string
  /** Where its API answers; null: it has none. */
  address: string | null
  version: string
  /** Its share of the work is this to the sum of all. */
  weight: number
  /** Runs at once, for people and for limits. */
  concurrency: number
  /** The names of the resources that it can serve. */
  serves: readonly string[]
  /** False: it never leads. */
  leads: boolean
  /** Its lease, which should be that of all; null: it was not said. */
  leaseMs: number | null
}

export interface Member extends NewMember {
  joinedAt: number
  heartbeatAt: number
  /** It shall be given nothing, and hand over what it has. */
  draining: boolean
  /** How its services are. */
  health: Readonly<Record<string, ServiceState>>
  /** What it said it holds, at its last beat: by resource. */
  holding: Readonly<Record<string, readonly Held[]>>
  /** Raises that were refused to it: the fence stands at `epoch`. */
  refused: readonly RefusedRaise[]
}

export interface RefusedRaise {
  resource: string
  partition: number
  epoch: number
}

export interface Leader {
  member: string
  term: number
  expiresAt: number
}

/** Who has a partition, under which epoch, and who shall have it next. */
export interface Allotment {
  resource: string
  partition: number
  owner: string
  epoch: number
  /** The owner hands over to this one when nothing of the partition is in flight any more; null: it stays. */
  next: string | null
  /** When this owner got it, by the store's clock. */
  since: number
  /** How often the owner has changed. */
  moves: number
}

export interface RosterView {
  now: number
  /** Changes with every member that comes, goes, drains or has another address, every refused raise, and every allotment. */
  version: number
  /** The lease as it stands, expired or not; null: there never was a leader. */
  leader: Leader | null
  members: readonly Member[]
  resources: readonly Resource[]
  allotments: readonly Allotment[]
  /** Since when nobody serves a resource, by its name: of those that the leader has marked so. [Q11] */
  idle: Readonly<Record<string, number>>
  /** The sum of the epochs of all allotments that were removed with their resource. [Q7] */
  epochFloor: number
}

/** What a member tells with every pulse. */
export interface Beat {
  member: string
  leaseMs: number
  /** Whether it renews the leader's lease, or takes a free one. */
  leads: boolean
  health: Readonly<Record<string, ServiceState>>
  holding: Readonly<Record<string, readonly Held[]>>
  refused: readonly RefusedRaise[]
}

export type Beaten =
  /** There is no such member: it was declared dead, or never joined. Nothing was written. [G2] */
  | { known: false }
  | {
      known: true
      /** Its heartbeat before this one. */
      previousAt: number
      leader: Leader | null
      version: number
      /** Members whose heartbeat is older than the lease. */
      silent: readonly string[]
    }

/** What the leader writes in one step. [K2] [K3] [A2] */
export interface Decision {
  leader: string
  term: number
  leaseMs: number
  /** The leader's own heartbeat must be younger than this by the same clock reading, or nothing is decided. */
  gapMs: number
  /** Members declared dead: each must be silent for a lease in this very step, or nothing is decided. */
  dead: readonly string[]
  changes: readonly AllotmentChange[]
}

/** A compare-and-set: applied if the allotment still is `from`. */
export interface AllotmentChange {
  resource: string
  partition: number
  /** Null: nobody has it yet. */
  from: { owner: string; epoch: number; next: string | null } | null
  to: { owner: string; epoch: number; next: string | null }
}

export type Decided =
  | { kind: 'decided'; applied: number }
  /** The lease is another's, or over. */
  | { kind: 'not-leader' }
  /** The leader's own heartbeat is too old to judge anyone by. */
  | { kind: 'unsure' }
  /** One of those to be declared dead has beaten. */
  | { kind: 'alive' }

/** The owner's own write: a compare-and-set on (owner, epoch, next). [A3] */
export interface Grant {
  resource: string
  partition: number
  epoch: number
  /** As the allotment says it; null when a leaving member chooses by itself. */
  next: string | null
  to: string
}

export interface RosterStore {
  /** Adds the member with a heartbeat of now, and the resources it serves; refuses another number of partitions. [G1] */
  join(member: NewMember, resources: readonly Resource[]): Promise<void>
  /** Adds resources to those a member serves. [G1] */
  serve(member: string, resources: readonly Resource[]): Promise<void>
  /** Says anew where the API of a member answers; without one that is there it changes nothing. [G5] */
  reach(member: string, address: string | null): Promise<void>
  /** Everything, on one snapshot. */
  view(): Promise<RosterView>
  /** The leader's changes, all or none of the conditions holding; each change by its own compare-and-set. [K2] [K3] [A2] */
  decide(decision: Decision): Promise<Decided>
  /** Hands partitions over; answers which of them were. [A3] */
  grant(owner: string, grants: readonly Grant[]): Promise<boolean[]>
  /** Hands over, gives back the leader's lease, and removes the member, in one step. [G3] */
  leave(member: string, grants: readonly Grant[]): Promise<void>
  /** Marks a member to hand over what it has, or takes the mark off; false: there is no such member. [G4] */
  drain(member: string, draining: boolean): Promise<boolean>
  /** Gives the leader's lease back; false: it was not this member's. [K4] */
  stepDown(member: string): Promise<boolean>
  /** Marks resources as idle since now, and removes the mark of others. A join or serve of one removes it too. [Q11] */
  markIdle(marks: IdleMarks): Promise<void>
  /**
   * Removes, of these resources, those that no member serves and that have been marked idle for this long, with their
   * allotments; also allotments of these names without a resource. Answers the names of the removed resources. [Q11]
   */
  forget(resources: readonly string[], idleForMs: number): Promise<string[]>
}

export interface IdleMarks {
  idle: readonly string[]
  busy: readonly string[]
}

export interface LockRequest {
  name: string
  /** Random, of this one try to hold it. */
  holder: string
  ttlMs: number
}

export interface HeldLock {
  name: string
  holder: string
  /** Grows with every holder, for fencing effects outside. */
  token: number
  expiresAt: number
}

/** Named locks that expire. [N1] to [N3] */
export interface LockStore {
  /** Takes a free or expired lock, or renews one's own; null: another holds it. [N1] [N2] */
  acquire(request: LockRequest): Promise<HeldLock | null>
  /** Gives a lock back; false: it was no longer the holder's. [N3] */
  release(name: string, holder: string): Promise<boolean>
  /** Every lock that is held, by name. */
  held(): Promise<HeldLock[]>
}
