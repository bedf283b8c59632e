// What a store does for the leader and with allotments: a part of roster-contract.ts.
import assert from 'node:assert/strict'
import type { Case } from './contract.ts'
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
import { START } from './virtual-clock.ts'

export const leaderCases: Case[] = [
  {
    title: '[K1] the first beat leads with term 1, and keeps the lease as long as it beats',
    run: async ({ store, clock }) => {
      await openTwo(store)
      for (let nth = 1; nth <= 9; nth += 1) {
        await clock.leap(500)
        await known(store, 'b')
        const { leader } = await known(store, 'a')
        assert.deepEqual(leader, { member: 'a', term: 1, expiresAt: START + nth * 500 + LEASE_MS })
      }
    },
  },
  {
    title: '[K1] a lease that is over is taken with a higher term, also by the one who had it',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await clock.leap(LEASE_MS - 1)
      assert.equal((await known(store, 'b')).leader?.member, 'a')
      await clock.leap(1)
      const { leader } = await known(store, 'b')
      assert.deepEqual([leader?.member, leader?.term], ['b', 2])
      assert.equal((await known(store, 'a')).leader?.member, 'b')
      await clock.leap(LEASE_MS)
      assert.equal((await known(store, 'b')).leader?.term, 3)
    },
  },
  {
    title: '[K1] a member that does not want to lead takes no lease and renews none',
    run: async ({ store, clock }) => {
      await store.roster.join(asMember('a'), [RESOURCE])
      assert.equal((await known(store, 'a', { leads: false })).leader, null)
      await known(store, 'a')
      await clock.leap(LEASE_MS - 1)
      await known(store, 'a', { leads: false })
      await clock.leap(1)
      const { leader } = await known(store, 'a', { leads: false })
      assert.deepEqual([leader?.term, leader?.expiresAt], [1, START + LEASE_MS])
    },
  },
  {
    title: '[K1] of many beats at once one takes the lease',
    run: async ({ store }) => {
      const ids = Array.from({ length: 8 }, (_, nth) => `m${nth}`)
      for (const id of ids) await store.roster.join(asMember(id), [])
      const leaders = await Promise.all(ids.map(async (id) => (await known(store, id)).leader))
      assert.deepEqual(new Set(leaders.map((leader) => `${leader?.member} ${leader?.term}`)).size, 1)
      assert.equal(leaders[0]?.term, 1)
    },
  },
  {
    title: '[K2] only the holder of the lease, under its term and before its end, decides',
    run: async ({ store, clock }) => {
      await openTwo(store)
      const changes = [change(0, null, held('b', 1))]
      for (const wrong of [{ leader: 'b' }, { term: 2 }, { term: 0 }]) {
        const decided = await store.roster.decide(decision({ changes, ...wrong }))
        assert.deepEqual(decided, { kind: 'not-leader' })
      }
      await clock.leap(LEASE_MS)
      await known(store, 'a', { leads: false })
      assert.deepEqual(await store.roster.decide(decision({ changes })), { kind: 'not-leader' })
      assert.deepEqual(await allotments(store), [])
    },
  },
  {
    title:
      '[K3] V13: a silent member is declared dead and its partitions move in one step; one that beat meanwhile is not',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await store.roster.decide(decision({ changes: [change(0, null, held('b', 1))] }))
      await clock.leap(2500)
      await known(store, 'a')
      const bury = decision({ dead: ['b'], changes: [change(0, held('b', 1), held('a', 2))] })
      assert.deepEqual(await store.roster.decide(bury), { kind: 'alive' })
      assert.deepEqual(await allotments(store), [[0, 'b', 1, null]])
      await clock.leap(501)
      assert.deepEqual(await store.roster.decide(bury), { kind: 'decided', applied: 1 })
      assert.deepEqual(await allotments(store), [[0, 'a', 2, null]])
      assert.deepEqual(await beat(store, 'b'), { known: false })
    },
  },
  {
    title: '[K3] a leader whose own heartbeat is old decides nothing: the store was away, not the others',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await clock.leap(2000)
      await known(store, 'a')
      await clock.leap(1001)
      const bury = decision({ dead: ['b'], changes: [change(0, null, held('a', 1))] })
      assert.deepEqual(await store.roster.decide(bury), { kind: 'unsure' })
      assert.equal((await store.roster.view()).members.length, 2)
    },
  },
  {
    title: '[K4] a leader that steps down frees the lease at once',
    run: async ({ store }) => {
      await openTwo(store)
      assert.equal(await store.roster.stepDown('b'), false)
      assert.equal(await store.roster.stepDown('a'), true)
      assert.equal(await store.roster.stepDown('a'), false)
      const { leader } = await known(store, 'b')
      assert.deepEqual([leader?.member, leader?.term], ['b', 2])
    },
  },
]

export const allotmentCases: Case[] = [
  {
    title: '[A2] a change is applied where the allotment is as it was read, and nowhere else',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await store.roster.decide(
        decision({ changes: [0, 1, 2].map((nth) => change(nth, null, held('a', 1))) }),
      )
      await clock.leap(10)
      const changes = [
        change(0, held('a', 1), held('b', 2)),
        change(1, held('b', 1), held('b', 2)),
        change(2, held('a', 2), held('b', 3)),
        change(3, held('a', 1), held('b', 2)),
        change(0, null, held('b', 9)),
      ]
      assert.deepEqual(await store.roster.decide(decision({ changes })), { kind: 'decided', applied: 1 })
      assert.deepEqual(await allotments(store), [
        [0, 'b', 2, null],
        [1, 'a', 1, null],
        [2, 'a', 1, null],
      ])
      const { allotments: all } = await store.roster.view()
      const rows = all.toSorted((x, y) => x.partition - y.partition).map(({ since, moves }) => [since, moves])
      assert.deepEqual(rows, [
        [START + 10, 1],
        [START, 0],
        [START, 0],
      ])
    },
  },
  {
    title: '[A3] a revoke names the next owner, and the owner hands over by compare-and-set',
    run: async ({ store, clock }) => {
      await openTwo(store)
      const both = [change(0, null, held('a', 1)), change(1, null, held('a', 1))]
      await store.roster.decide(decision({ changes: both }))
      await store.roster.decide(decision({ changes: [change(0, held('a', 1), held('a', 1, 'b'))] }))
      assert.deepEqual(await allotments(store), [
        [0, 'a', 1, 'b'],
        [1, 'a', 1, null],
      ])
      await clock.leap(5)
      const grant = { resource: RESOURCE.name, partition: 0, epoch: 1, next: 'b', to: 'b' }
      const grants = [
        { ...grant, next: null },
        { ...grant, epoch: 2 },
        { ...grant, partition: 3 },
        grant,
        grant,
      ]
      assert.deepEqual(await store.roster.grant('b', [grant]), [false])
      const answers = []
      for (const each of grants) answers.push(...(await store.roster.grant('a', [each])))
      assert.deepEqual(answers, [false, false, false, true, false])
      assert.deepEqual(await allotments(store), [
        [0, 'b', 2, null],
        [1, 'a', 1, null],
      ])
    },
  },
  {
    title: '[A3] several partitions are handed over in one call, each for itself',
    run: async ({ store }) => {
      await openTwo(store)
      const changes = [0, 1, 2].map((nth) => change(nth, null, held('a', 1, nth === 1 ? null : 'b')))
      await store.roster.decide(decision({ changes }))
      const grants = [0, 1, 2].map((partition) => {
        return { resource: RESOURCE.name, partition, epoch: 1, next: 'b', to: 'b' }
      })
      assert.deepEqual(await store.roster.grant('a', grants), [true, false, true])
    },
  },
  {
    title: '[A4] a revoke that was withdrawn by a new grant cannot be handed over any more',
    run: async ({ store }) => {
      await openTwo(store)
      await store.roster.decide(decision({ changes: [change(0, null, held('a', 1, 'b'))] }))
      await store.roster.decide(decision({ changes: [change(0, held('a', 1, 'b'), held('a', 2))] }))
      const grant = { resource: RESOURCE.name, partition: 0, epoch: 1, next: 'b', to: 'b' }
      assert.deepEqual(await store.roster.grant('a', [grant]), [false])
      assert.deepEqual(await allotments(store), [[0, 'a', 2, null]])
    },
  },
]
