// What the leader writes, from what it sees.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lead } from '../../../src/roster/lead.ts'
import { changesOf, legacyOf } from '../../../src/roster/plan.ts'
import { timingOf } from '../../../src/roster/settings.ts'
import type { Allotment, Member, RosterView } from '../../../src/roster/store.ts'

const NOW = 100_000

function asMember(id: string, given: Partial<Member> = {}): Member {
  return {
    id,
    name: id,
    address: null,
    version: '1',
    weight: 1,
    concurrency: 1,
    leaseMs: 3000,
    serves: ['r'],
    leads: true,
    joinedAt: 0,
    heartbeatAt: NOW,
    draining: false,
    health: {},
    holding: {},
    refused: [],
    ...given,
  }
}

const owned = (partition: number, owner: string, epoch = 1, next: string | null = null): Allotment => ({
  resource: 'r',
  partition,
  owner,
  epoch,
  next,
  since: 0,
  moves: 0,
})

function asView(members: Member[], allotments: Allotment[], partitions = 2): RosterView {
  const resources = [{ name: 'r', partitions }]
  return { now: NOW, version: 1, leader: null, members, resources, allotments, idle: {}, epochFloor: 0 }
}

const leader = { member: 'a', term: 4, expiresAt: NOW + 3000 }
const timing = timingOf(3000)

test('[A2] what nobody has is granted under epoch 1', () => {
  const changes = changesOf(asView([asMember('a')], [], 1))
  assert.deepEqual(changes, [
    { resource: 'r', partition: 0, from: null, to: { owner: 'a', epoch: 1, next: null } },
  ])
})

test('[A3] a partition that shall move is revoked: its owner and epoch stay', () => {
  const [change, ...more] = changesOf(
    asView([asMember('a'), asMember('b')], [owned(0, 'a', 3), owned(1, 'a', 5)]),
  )
  assert.deepEqual(more, [])
  assert.deepEqual(change?.to, { owner: 'a', epoch: 5, next: 'b' })
})

test('[A3] a move under way is left alone', () => {
  const view = asView([asMember('a'), asMember('b')], [owned(0, 'a'), owned(1, 'a', 1, 'b')])
  assert.deepEqual(changesOf(view), [])
})

test('[A4] a revoke to a member that is gone is withdrawn by a new grant to the owner', () => {
  const view = asView([asMember('a')], [owned(0, 'a'), owned(1, 'a', 7, 'gone')])
  assert.deepEqual(
    changesOf(view).map(({ partition, to }) => [partition, to]),
    [[1, { owner: 'a', epoch: 8, next: null }]],
  )
})

test('[A5] a partition whose owner is no member is granted anew', () => {
  const view = asView([asMember('a')], [owned(0, 'a'), owned(1, 'gone', 6, 'a')])
  assert.deepEqual(
    changesOf(view).map(({ partition, to }) => [partition, to]),
    [[1, { owner: 'a', epoch: 7, next: null }]],
  )
})

test('[A6] a refused raise is answered with an epoch above the fence, if it is the owner who says it', () => {
  const refused = [{ resource: 'r', partition: 0, epoch: 41 }]
  const byOwner = asView([asMember('a', { refused })], [owned(0, 'a', 2)], 1)
  assert.deepEqual(changesOf(byOwner)[0]?.to, { owner: 'a', epoch: 42, next: null })
  const byOther = asView([asMember('a', { refused }), asMember('b')], [owned(0, 'b', 2)], 1)
  assert.deepEqual(changesOf(byOther), [])
  const old = asView([asMember('a', { refused })], [owned(0, 'a', 42)], 1)
  assert.deepEqual(changesOf(old), [])
})

test('[A1] members that drain, or do not serve a resource, get nothing of it', () => {
  const members = [asMember('a', { draining: true }), asMember('b', { serves: [] }), asMember('c')]
  const changes = changesOf(asView(members, [owned(0, 'a'), owned(1, 'b')]))
  assert.deepEqual(new Set(changes.map(({ to }) => to.next)), new Set(['c']))
})

test('[K3] [K5] silent members are declared dead by a leader that has watched for a lease, and not before', () => {
  const view = asView(
    [asMember('a'), asMember('b', { heartbeatAt: NOW - 3001 })],
    [owned(0, 'a'), owned(1, 'b')],
  )
  assert.equal(lead(view, { leader, timing, mayJudgeFrom: NOW + 1 }), null)
  const decision = lead(view, { leader, timing, mayJudgeFrom: NOW })
  assert.deepEqual([decision?.dead, decision?.term, decision?.gapMs], [['b'], 4, 1000])
  assert.deepEqual(
    decision?.changes.map(({ to }) => to),
    [{ owner: 'a', epoch: 2, next: null }],
  )
  const young = asView(
    [asMember('a'), asMember('b', { heartbeatAt: NOW - 3000 })],
    [owned(0, 'a'), owned(1, 'b')],
  )
  assert.equal(lead(young, { leader, timing, mayJudgeFrom: NOW }), null)
})

test('[H4] a member that leaves hands over to those the plan names, or to the next of a revoke', () => {
  const members = [asMember('a'), asMember('b'), asMember('c')]
  const view = asView(members, [owned(0, 'a', 2), owned(1, 'a', 3, 'c'), owned(2, 'b', 1)], 3)
  const grants = legacyOf(view, 'a')
  assert.deepEqual(
    grants.map(({ partition, epoch, next, to }) => [partition, epoch, next, to]),
    [
      [0, 2, null, 'b'],
      [1, 3, 'c', 'c'],
    ],
  )
  assert.deepEqual(legacyOf(asView([asMember('a')], [owned(0, 'a')]), 'a'), [])
})

/** How often the resource of an allotment is read while the leader plans for so many shares that nobody collects. */
function readsOfPlan(shares: number): number {
  let reads = 0
  const names = Array.from({ length: shares }, (_, nth) => `share/id/s${nth}`)
  const allotments = names.flatMap((name) =>
    Array.from({ length: 8 }, (_, partition): Allotment => {
      const allotment = owned(partition, 'gone')
      return Object.defineProperty(allotment, 'resource', { get: () => ((reads += 1), name) })
    }),
  )
  const view = asView([asMember('a')], allotments)
  changesOf({ ...view, resources: names.map((name) => ({ name, partitions: 8 })) })
  return reads
}

test('[A1] the cost of a plan grows with the number of allotments, not with its square', () => {
  assert.equal(readsOfPlan(200), 2 * readsOfPlan(100))
})
