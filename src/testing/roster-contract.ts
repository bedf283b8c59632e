// What every store of a roster must do: rules [G], [K], [A] of docs/spec/roster.md.
import assert from 'node:assert/strict'
import type { AllotmentChange, Beat, Beaten, Decision, NewMember } from '../roster/store.ts'
import type { Store } from '../store.ts'
import { type Case, type OpenSubject, registerCases } from './contract.ts'
import { START } from './virtual-clock.ts'

const LEASE_MS = 3000
const GAP_MS = 1000
const RESOURCE = { name: 'pool/work', partitions: 4 }

function asMember(id: string, given: Partial<NewMember> = {}): NewMember {
  return {
    id,
    name: `host:${id}`,
    address: null,
    version: '0.1.0',
    weight: 1,
    concurrency: 1,
    serves: [RESOURCE.name],
    leads: true,
    ...given,
  }
}

async function beat(store: Store, member: string, given: Partial<Beat> = {}): Promise<Beaten> {
  const said = { health: {}, holding: {}, refused: [], leads: true, ...given }
  const { beaten } = await store.pulse({ beat: { member, leaseMs: LEASE_MS, ...said }, pools: [] })
  assert.ok(beaten !== null)
  return beaten
}

async function known(
  store: Store,
  member: string,
  given: Partial<Beat> = {},
): Promise<Beaten & { known: true }> {
  const beaten = await beat(store, member, given)
  assert.ok(beaten.known)
  return beaten
}

/** Two members, of which the first leads with term 1. */
async function openTwo(store: Store): Promise<void> {
  for (const id of ['a', 'b']) await store.roster.join(asMember(id), [RESOURCE])
  await known(store, 'a')
  await known(store, 'b')
}

function decision(given: Partial<Decision> = {}): Decision {
  return { leader: 'a', term: 1, leaseMs: LEASE_MS, gapMs: GAP_MS, dead: [], changes: [], ...given }
}

function change(
  partition: number,
  from: AllotmentChange['from'],
  to: AllotmentChange['to'],
): AllotmentChange {
  return { resource: RESOURCE.name, partition, from, to }
}

const held = (owner: string, epoch: number, next: string | null = null): AllotmentChange['to'] => ({
  owner,
  epoch,
  next,
})

async function allotments(store: Store): Promise<[number, string, number, string | null][]> {
  const { allotments: all } = await store.roster.view()
  return all
    .map(({ partition, owner, epoch, next }) => [partition, owner, epoch, next] as const)
    .toSorted((a, b) => a[0] - b[0])
    .map((row) => [...row])
}

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

const leaderCases: Case[] = [
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
    title: '[K3] a silent member is declared dead and its partitions move in one step',
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

const allotmentCases: Case[] = [
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

export function rosterContract(suite: string, open: OpenSubject): void {
  registerCases(`${suite}: members`, open, memberCases)
  registerCases(`${suite}: leader`, open, leaderCases)
  registerCases(`${suite}: allotments`, open, allotmentCases)
}
