// What a store does for members and the leader after its clock was set back: a part of roster-contract.ts.
import assert from 'node:assert/strict'
import type { Store } from '../store.ts'
import type { Case } from './contract.ts'
import {
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

const HOUR_MS = 3_600_000
/** What the clock shows when it has been set back. */
const BACK = START - HOUR_MS

async function heartbeats(store: Store): Promise<Record<string, number>> {
  const { members } = await store.roster.view()
  return Object.fromEntries(members.map(({ id, heartbeatAt }) => [id, heartbeatAt]))
}

export const setBackCases: Case[] = [
  {
    title: '[K6] a member that is dead is judged one lease after the clock was set back',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await store.roster.decide(decision({ changes: [change(0, null, held('b', 1))] }))
      clock.jumpWall(-HOUR_MS)
      const bury = decision({ dead: ['b'], changes: [change(0, held('b', 1), held('a', 2))] })
      await known(store, 'a')
      assert.deepEqual(await heartbeats(store), { a: BACK, b: BACK })
      for (const ms of [LEASE_MS / 2, LEASE_MS / 2]) {
        await clock.leap(ms)
        assert.deepEqual((await known(store, 'a')).silent, [])
        assert.deepEqual(await store.roster.decide(bury), { kind: 'alive' })
      }
      await clock.leap(1)
      assert.deepEqual((await known(store, 'a')).silent, ['b'])
      assert.deepEqual(await store.roster.decide(bury), { kind: 'decided', applied: 1 })
      assert.deepEqual(await beat(store, 'b'), { known: false })
    },
  },
  {
    title: '[K6] a member that lives is not declared dead because the clock was set back',
    run: async ({ store, clock }) => {
      await openTwo(store)
      clock.jumpWall(-HOUR_MS)
      assert.deepEqual(await store.roster.decide(decision({ dead: ['b'] })), { kind: 'alive' })
      await known(store, 'a')
      assert.deepEqual(await store.roster.decide(decision({ dead: ['b'] })), { kind: 'alive' })
      await clock.leap(LEASE_MS - 1)
      assert.equal((await known(store, 'b')).previousAt, BACK)
      await clock.leap(LEASE_MS)
      assert.deepEqual((await known(store, 'a')).silent, [])
      assert.equal((await heartbeats(store))['b'], BACK + LEASE_MS - 1)
    },
  },
  {
    title: '[K6] heartbeats that do not lie in the future stay, however little the clock was set back',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await clock.leap(500)
      await known(store, 'a')
      clock.jumpWall(-1)
      await known(store, 'a')
      assert.deepEqual(await heartbeats(store), { a: START + 499, b: START })
      clock.jumpWall(-500)
      await known(store, 'a')
      assert.deepEqual(await heartbeats(store), { a: START - 1, b: START - 1 })
    },
  },
  {
    title: '[K6] the lease of a leader that is dead is over one lease after the clock was set back',
    run: async ({ store, clock }) => {
      await openTwo(store)
      clock.jumpWall(-HOUR_MS)
      const cut = { member: 'a', term: 1, expiresAt: BACK + LEASE_MS }
      assert.deepEqual((await known(store, 'b')).leader, cut)
      assert.deepEqual((await store.roster.view()).leader, cut)
      await clock.leap(LEASE_MS - 1)
      assert.deepEqual((await known(store, 'b')).leader, cut)
      await clock.leap(1)
      const { leader } = await known(store, 'b')
      assert.deepEqual([leader?.member, leader?.term], ['b', 2])
    },
  },
  {
    title: '[K6] a lease that was free is so again one lease after the clock was set back',
    run: async ({ store, clock }) => {
      await openTwo(store)
      await store.roster.stepDown('a')
      clock.jumpWall(-HOUR_MS)
      await known(store, 'b')
      await clock.leap(LEASE_MS)
      const { leader } = await known(store, 'b')
      assert.deepEqual([leader?.member, leader?.term], ['b', 2])
    },
  },
  {
    title: '[K6] a leader that lives goes on in its term, and others keep to it',
    run: async ({ store, clock }) => {
      await openTwo(store)
      clock.jumpWall(-HOUR_MS)
      await known(store, 'b')
      for (let nth = 1; nth <= 9; nth += 1) {
        await clock.leap(500)
        const { leader } = await known(store, 'a')
        assert.deepEqual(leader, { member: 'a', term: 1, expiresAt: BACK + nth * 500 + LEASE_MS })
        assert.deepEqual((await known(store, 'b')).leader, leader)
      }
    },
  },
  {
    title: '[K6] the lease of a leader is as long as its own, and nobody cuts it who would not lead',
    run: async ({ store, clock }) => {
      await store.roster.join(asMember('a', { leaseMs: 10_000 }), [RESOURCE])
      await store.roster.join(asMember('b'), [RESOURCE])
      await known(store, 'a', { leaseMs: 10_000 })
      assert.equal((await known(store, 'b')).leader?.expiresAt, START + 10_000)
      clock.jumpWall(-HOUR_MS)
      assert.equal((await known(store, 'b', { leads: false })).leader?.expiresAt, START + 10_000)
      assert.equal((await known(store, 'b')).leader?.expiresAt, BACK + 10_000)
    },
  },
]
