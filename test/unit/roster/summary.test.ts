// The roster as people read it, and the moves that a preview names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toIso } from '../../../src/clock.ts'
import { timingOf } from '../../../src/roster/settings.ts'
import { allotmentsOf, movesUnderWay, plannedMoves, summaryOf } from '../../../src/roster/summary.ts'
import { NOW, RESOURCE, allotment, fence, member, view } from './sample-view.ts'

const timing = timingOf(3000)
const shared = [0, 1, 2, 3].map((partition) => allotment(partition, partition < 2 ? 'a' : 'b'))

test('a summary names the leader, the members and who owns how much since when', () => {
  const late = allotment(3, 'b', { next: 'a', moves: 2, since: NOW - 10 })
  const roster = summaryOf(view([member('b'), member('a')], [...shared.slice(0, 3), late]), new Map(), timing)
  const expiresAt = toIso(NOW + 2900)
  assert.deepEqual(roster.leader, { member: 'b', name: 'name-b', term: 3, expiresAt, leaseMs: 3000 })
  assert.deepEqual(
    roster.members.map(({ id, partitions, heartbeatAgeMs, silent }) => [
      id,
      partitions,
      heartbeatAgeMs,
      silent,
    ]),
    [
      ['a', 2, 100, false],
      ['b', 2, 100, false],
    ],
  )
  assert.deepEqual(roster.resources, [
    {
      name: RESOURCE,
      partitions: 4,
      owners: [
        { member: 'a', name: 'name-a', partitions: 2, since: toIso(NOW - 1000) },
        { member: 'b', name: 'name-b', partitions: 2, since: toIso(NOW - 10) },
      ],
      unowned: 0,
      moves: 2,
      moving: 1,
      since: toIso(NOW - 10),
    },
  ])
  assert.deepEqual([roster.overlap, roster.leaseMs, roster.now], [0, 3000, toIso(NOW)])
})

test('a lease that is over is no leader, and a heartbeat older than it is silence', () => {
  const silent = member('a', { heartbeatAt: NOW - 3001 })
  const roster = summaryOf(view([silent]), new Map(), timing)
  assert.deepEqual([roster.leader, roster.members[0]?.silent], [null, true])
})

test('partitions of those that are gone, or of nobody, count as unowned', () => {
  const roster = summaryOf(view([member('a')], [allotment(0, 'a'), allotment(1, 'gone')]), new Map(), timing)
  assert.equal(roster.resources[0]?.unowned, 3)
})

test('[O1] a summary counts the overlap', () => {
  const holding = { [RESOURCE]: [{ partition: 0, epoch: 1 }] }
  const fences = new Map([[RESOURCE, [fence(0, 'b', { epoch: 2 })]]])
  assert.equal(summaryOf(view([member('a', { holding })]), fences, timing).overlap, 1)
})

test('allotments are listed by resource and partition, with the names of who is there', () => {
  const all = [
    allotment(1, 'gone', { next: 'a' }),
    allotment(0, 'a'),
    allotment(0, 'a', { resource: 'own/x' }),
  ]
  const listed = allotmentsOf(view([member('a')], all))
  assert.deepEqual(
    listed.map(({ resource, partition, ownerName, nextName }) => [resource, partition, ownerName, nextName]),
    [
      ['own/x', 0, 'name-a', null],
      [RESOURCE, 0, 'name-a', null],
      [RESOURCE, 1, null, 'name-a'],
    ],
  )
  assert.equal(allotmentsOf(view([member('a')], all), 'own/x').length, 1)
})

test('[O2] a preview names the moves to a newcomer, from a silent member, and of a drain', () => {
  const moves = (...given: Parameters<typeof plannedMoves>): string[] =>
    plannedMoves(...given).map(({ partition, from, to }) => `${partition} ${from} ${to}`)
  const settled = view([member('a'), member('b')], shared)
  assert.deepEqual(moves(settled, timing), [])
  assert.deepEqual(moves(settled, timing, ['b']), ['2 b a', '3 b a'])
  const silent = member('b', { heartbeatAt: NOW - 3001 })
  assert.deepEqual(moves(view([member('a'), silent], shared), timing), ['2 b a', '3 b a'])
  const alone = shared.map((each) => ({ ...each, owner: 'a' }))
  assert.equal(moves(view([member('a'), member('b')], alone), timing).length, 2)
  assert.deepEqual(moves(view([member('a')]), timing), ['0 null a', '1 null a', '2 null a', '3 null a'])
})

test('[O2] what is under way is no planned move', () => {
  const moving = view([member('a'), member('b')], [...shared.slice(0, 3), allotment(3, 'a', { next: 'b' })])
  assert.deepEqual(plannedMoves(moving, timing), [])
  assert.deepEqual(movesUnderWay(moving), [
    { resource: RESOURCE, partition: 3, from: 'a', fromName: 'name-a', to: 'b', toName: 'name-b' },
  ])
})
