// What the server answers about the roster, locks and its own health, as JSON gives it.

export interface RosterView {
  /** The clock of the store. */
  now: string
  /** The lease of the server that answered. */
  leaseMs: number
  /** Null: nobody leads. */
  leader: { member: string; name: string; term: number; expiresAt: string; leaseMs: number | null } | null
  members: MemberView[]
  resources: ResourceView[]
  /** Partitions that two members believe to own. It must be 0. */
  overlap: number
}

export interface MemberView {
  id: string
  name: string
  address: string | null
  version: string
  weight: number
  leads: boolean
  /** Its lease; null: it was not said. */
  leaseMs: number | null
  joinedAt: string
  heartbeatAgeMs: number
  /** Its heartbeat is older than the lease. */
  silent: boolean
  draining: boolean
  /** The state of each of its loops. */
  health: Record<string, string>
  serves: string[]
  /** How many are allotted to it. */
  partitions: number
}

export interface ResourceView {
  name: string
  partitions: number
  owners: { member: string; name: string; partitions: number; since: string }[]
  /** Partitions whose owner is no member. */
  unowned: number
  /** How often partitions have changed hands. */
  moves: number
  /** Partitions that are about to be handed over. */
  moving: number
  since: string | null
}

export interface AllotmentView {
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

export interface MoveView {
  resource: string
  partition: number
  /** Null: nobody had it. */
  from: string | null
  fromName: string | null
  to: string
  toName: string | null
}

export interface DrainAnswer {
  id: string
  name: string
  draining: boolean
  /** How many it had when it was asked. */
  partitions: number
  /** How many of them go to others; the rest stays until someone else can serve it. */
  moves: number
}

export interface RebalanceAnswer {
  preview: boolean
  /** What the leader would begin, or begins, to move. */
  moves: MoveView[]
  /** What is being handed over already. */
  underWay: MoveView[]
}

export interface StepDownAnswer {
  /** False: nobody leads. */
  steppedDown: boolean
  member: string | null
  name: string | null
  term: number | null
}

export interface LockView {
  name: string
  holder: string
  token: number
  expiresAt: string
}

export interface FindingView {
  check: string
  ok: boolean
  detail: string
  /** What to do about it; null where all is well. */
  remedy: string | null
}

export interface DoctorView {
  /** The clock of the store. */
  now: string
  version: string
  store: string
  findings: FindingView[]
}
