// Views of a roster, written down for the pure functions that read them.
import type { Fence } from '../../../src/fence.ts'
import type { Allotment, Member, RosterView } from '../../../src/roster/store.ts'
import { START } from '../../../src/testing/virtual-clock.ts'

export const NOW = START
export const RESOURCE = 'pool/ticks'

/** A member called as its id, that beat 100 ms ago. */
export function member(id: string, changes: Partial<Member> = {}): Member {
  return {
    id,
    name: `name-${id}`,
    address: null,
    version: '1.0.0',
    weight: 1,
    concurrency: 1,
    leaseMs: 3000,
    serves: [RESOURCE],
    leads: true,
    joinedAt: NOW - 60_000,
    heartbeatAt: NOW - 100,
    draining: false,
    health: { pulse: 'running' },
    holding: {},
    refused: [],
    ...changes,
  }
}

export function allotment(partition: number, owner: string, changes: Partial<Allotment> = {}): Allotment {
  return {
    resource: RESOURCE,
    partition,
    owner,
    epoch: 1,
    next: null,
    since: NOW - 1000,
    moves: 0,
    ...changes,
  }
}

/** Four partitions of one resource; the first member leads. */
export function view(
  members: Member[],
  allotments: Allotment[] = [],
  changes: Partial<RosterView> = {},
): RosterView {
  const [first] = members
  return {
    now: NOW,
    version: 1,
    leader: first === undefined ? null : { member: first.id, term: 3, expiresAt: first.heartbeatAt + 3000 },
    members,
    resources: [{ name: RESOURCE, partitions: 4 }],
    allotments,
    idle: {},
    epochFloor: 0,
    ...changes,
  }
}

export function fence(partition: number, owner: string, changes: Partial<Fence> = {}): Fence {
  return { partition, owner, epoch: 1, raisedAt: NOW - 1000, ...changes }
}
