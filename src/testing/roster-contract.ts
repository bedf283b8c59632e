// What every store of a roster must do: rules [G], [K], [A] of docs/spec/roster.md.
import assert from 'node:assert/strict'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { allotmentCases, leaderCases } from './leader-contract.ts'
import {
  allotments,
  asMember,
  beat,
  change,
  decision,
  held,
  known,
  LEASE_MS,
  openTwo,
  RESOURCE,
} from './roster-driver.ts'
import { setBackCases } from './set-back-contract.ts'
import { shareCases } from './share-contract.ts'
import { START } from './virtual-clock.ts'

const memberCases: Case[] = [
  {
    title: '[G1] a member that joins is seen with what it said, and its heartbeat is now',
    run: async ({ store }) => {
      await store.roster.join(asMember('a', { address: 'http://127.0.0.1:1', weight: 2, leads: false }), [
        RESOURCE,
      ])
      const { now, members, resources, leader, allotments: none } = await store.roster.view()
      assert.deepEqual([now, leader, none, resources], [START, null, [], [RESOURCE]])
      const said = asMember('a', { address: 'http://127.0.0.1:1', weight: 2, leads: false })
      const unsaid = { draining: false, health: {}, holding: {}, refused: [] }
      assert.deepEqual(members, [{ ...said, joinedAt: START, heartbeatAt: START, ...unsaid }])
    },
  },
  {
    title: '[G1] a resource with another number of partitions is refused, and the member does not join',
    run: async ({ store }) => {
      await store.roster.join(asMember('a'), [RESOURCE])
      const other = { ...RESOURCE, partitions: 5 }
      await assert.rejects(store.roster.join(asMember('b'), [other]), { code: 'resource_mismatch' })
      await assert.rejects(store.roster.serve('a', [other]), { code: 'resource_mismatch' })
      const { members, resources } = await store.roster.view()
      assert.deepEqual([members.map(({ id }) => id), resources], [['a'], [RESOURCE]])
    },
  },
  {
    title: '[G1] a member can serve more later',
    run: async ({ store }) => {
      await store.roster.join(asMember('a', { serves: [] }), [])
      const before = (await store.roster.view()).version
      await store.roster.serve('a', [RESOURCE])
      const { members, resources, version } = await store.roster.view()
      assert.deepEqual([members[0]?.serves, resources], [[RESOURCE.name], [RESOURCE]])
      assert.notEqual(version, before)
    },
  },
  {
    title: '[G5] a member can say anew where it is reached, and one that is not there says nothing',
    run: async ({ store }) => {
      await store.roster.join(asMember('a', { address: null }), [RESOURCE])
      const before = await store.roster.view()
      await store.roster.reach('ghost', 'http://ghost:1')
      assert.deepEqual(await store.roster.view(), before)
      await store.roster.reach('a', 'http://127.0.0.1:1')
      const { members, version } = await store.roster.view()
      assert.deepEqual(members, [{ ...before.members[0], address: 'http://127.0.0.1:1' }])
      assert.notEqual(version, before.version)
      await store.roster.reach('a', null)
      assert.deepEqual((await store.roster.view()).members, before.members)
    },
  },
  {
    title: '[G2] a beat moves the heartbeat, and says when the one before was',
    run: async ({ store, clock }) => {
      await store.roster.join(asMember('a'), [RESOURCE])
      await clock.leap(400)
      const said = {
        health: { pulse: 'running' as const },
        holding: { [RESOURCE.name]: [{ partition: 1, epoch: 2 }] },
        refused: [{ resource: RESOURCE.name, partition: 3, epoch: 9 }],
      }
      assert.equal((await known(store, 'a', said)).previousAt, START)
      const [member] = (await store.roster.view()).members
      assert.deepEqual({ ...member, ...said, heartbeatAt: START + 400 }, member)
    },
  },
  {
    title: '[G2] a beat of an id that is not there changes nothing, and says so',
    run: async ({ store }) => {
      const before = await store.roster.view()
      assert.deepEqual(await beat(store, 'ghost'), { known: false })
      assert.deepEqual(await store.roster.view(), before)
    },
  },
  {
    title:
      '[G2] the version changes with a member, a drain, a refused raise and an allotment, and not with a beat',
    run: async ({ store, clock }) => {
      await openTwo(store)
      const refused = [{ resource: RESOURCE.name, partition: 0, epoch: 4 }]
      const steps: (() => Promise<unknown>)[] = [
        () => store.roster.join(asMember('c'), []),
        () => store.roster.drain('c', true),
        () => beat(store, 'c', { refused }),
        () => beat(store, 'c'),
        () => store.roster.decide(decision({ changes: [change(0, null, held('a', 1))] })),
        () =>
          store.roster.grant('a', [{ resource: RESOURCE.name, partition: 0, epoch: 1, next: null, to: 'b' }]),
        () => store.roster.leave('c', []),
      ]
      for (const [nth, step] of steps.entries()) {
        const { version } = await known(store, 'a')
        await clock.leap(10)
        assert.equal((await known(store, 'b')).version, version)
        await step()
        assert.notEqual((await known(store, 'a')).version, version, `step ${nth}`)
      }
    },
  },
  {
    title: '[G2] a beat tells which members have been silent for longer than a lease',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await clock.leap(LEASE_MS)
      assert.deepEqual((await known(store, 'a')).silent, [])
      await clock.leap(1)
      assert.deepEqual((await known(store, 'a')).silent, ['b'])
    },
  },
  {
    title: '[G3] to leave hands over, frees the lease and removes the member',
    run: async ({ store }) => {
      await openTwo(store)
      await store.roster.decide(decision({ changes: [0, 1].map((nth) => change(nth, null, held('a', 1))) }))
      const grants = [
        { resource: RESOURCE.name, partition: 0, epoch: 1, next: null, to: 'b' },
        { resource: RESOURCE.name, partition: 1, epoch: 7, next: null, to: 'b' },
      ]
      await store.roster.leave('a', grants)
      assert.deepEqual(await allotments(store), [
        [0, 'b', 2, null],
        [1, 'a', 1, null],
      ])
      assert.deepEqual(
        (await store.roster.view()).members.map(({ id }) => id),
        ['b'],
      )
      const { leader } = await known(store, 'b')
      assert.deepEqual([leader?.member, leader?.term], ['b', 2])
    },
  },
  {
    title: '[G4] a member is marked to drain, and the mark is taken off',
    run: async ({ store }) => {
      await openTwo(store)
      for (const draining of [true, false]) {
        assert.equal(await store.roster.drain('b', draining), true)
        const member = (await store.roster.view()).members.find(({ id }) => id === 'b')
        assert.equal(member?.draining, draining)
      }
      assert.equal(await store.roster.drain('ghost', true), false)
    },
  },
]

export function rosterContract(suite: string, open: OpenSubject): void {
  registerCases(`${suite}: members`, open, memberCases)
  registerCases(`${suite}: leader`, open, leaderCases)
  registerCases(`${suite}: a clock that is set back`, open, setBackCases)
  registerCases(`${suite}: allotments`, open, allotmentCases)
  registerCases(`${suite}: shares`, open, shareCases)
}
