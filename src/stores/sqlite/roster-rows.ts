// Rows of the roster as the file holds them, and what they say.
import type { Allotment, Leader, Member } from '../../roster/store.ts'

export interface MemberRow {
  id: string
  name: string
  address: string | null
  version: string
  weight: number
  concurrency: number
  serves: string
  leads: number
  lease_ms: number | null
  joined_at: number
  heartbeat_at: number
  draining: number
  health: string
  holding: string
  refused: string
}

export interface LeaderRow {
  member: string
  term: number
  expires_at: number
}

export interface AllotmentRow {
  resource: string
  partition: number
  owner: string
  epoch: number
  next: string | null
  since: number
  moves: number
}

export function toMember(row: MemberRow): Member {
  const { id, name, address, version, weight, concurrency } = row
  return {
    id,
    name,
    address,
    version,
    weight,
    concurrency,
    serves: JSON.parse(row.serves) as Member['serves'],
    leads: row.leads === 1,
    leaseMs: row.lease_ms,
    joinedAt: row.joined_at,
    heartbeatAt: row.heartbeat_at,
    draining: row.draining === 1,
    health: JSON.parse(row.health) as Member['health'],
    holding: JSON.parse(row.holding) as Member['holding'],
    refused: JSON.parse(row.refused) as Member['refused'],
  }
}

export function toLeader({ member, term, expires_at: expiresAt }: LeaderRow): Leader {
  return { member, term, expiresAt }
}

export function toAllotment(row: AllotmentRow): Allotment {
  const { resource, partition, owner, epoch, next, since, moves } = row
  return { resource, partition, owner, epoch, next, since, moves }
}
