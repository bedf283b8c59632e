// What a store does with resources that nobody serves any more. Rules [Q7] and [Q11] of docs/spec/roster.md.
import assert from 'node:assert/strict'
import type { Store } from '../store.ts'
import type { Case } from './contract.ts'
import { allotments, asMember, change, decision, held, known, openTwo, RESOURCE } from './roster-driver.ts'
import { START } from './virtual-clock.ts'

const SHARE = { name: 'share/id/vms', partitions: 2 }

/** A leader, and a share of which somebody had both residues, the second under epoch 3. */
async function openLeft(store: Store): Promise<void> {
  await openTwo(store)
  await store.roster.join(asMember('c', { serves: [SHARE.name], leads: false }), [SHARE])
  const of = { resource: SHARE.name }
  const changes = [
    { ...change(0, null, held('c', 1)), ...of },
    { ...change(1, null, held('c', 3)), ...of },
  ]
  assert.deepEqual(await store.roster.decide(decision({ changes })), { kind: 'decided', applied: 2 })
  await store.roster.leave('c', [])
}

async function namesOf(store: Store): Promise<string[]> {
  return (await store.roster.view()).resources.map(({ name }) => name).toSorted()
}

export const shareCases: Case[] = [
  {
    title: '[Q11] a mark says since when a resource is idle, and a join takes it off',
    run: async ({ store, clock }) => {
      await openLeft(store)
      assert.deepEqual((await store.roster.view()).idle, {})
      await store.roster.markIdle({ idle: [SHARE.name, 'share/id/none'], busy: [] })
      assert.deepEqual((await store.roster.view()).idle, { [SHARE.name]: START })
      await store.roster.markIdle({ idle: [], busy: [SHARE.name] })
      assert.deepEqual((await store.roster.view()).idle, {})
      await clock.leap(10)
      await store.roster.markIdle({ idle: [SHARE.name], busy: [] })
      assert.deepEqual((await store.roster.view()).idle, { [SHARE.name]: START + 10 })
      await store.roster.join(asMember('d', { serves: [SHARE.name], leads: false }), [SHARE])
      assert.deepEqual((await store.roster.view()).idle, {})
    },
  },
  {
    title: '[Q11] a resource that is idle for long enough is removed with its allotments, and no other',
    run: async ({ store, clock }) => {
      await openLeft(store)
      assert.deepEqual(await store.roster.forget([SHARE.name], 0), [], 'it is not marked')
      await store.roster.markIdle({ idle: [SHARE.name], busy: [] })
      await clock.leap(999)
      assert.deepEqual(await store.roster.forget([SHARE.name], 1000), [])
      assert.deepEqual(await namesOf(store), [RESOURCE.name, SHARE.name])
      await clock.leap(1)
      const { version } = await known(store, 'a')
      assert.deepEqual(await store.roster.forget([SHARE.name, RESOURCE.name], 1000), [SHARE.name])
      assert.notEqual((await known(store, 'a')).version, version)
      assert.deepEqual(await namesOf(store), [RESOURCE.name])
      assert.deepEqual(await allotments(store), [])
    },
  },
  {
    title: '[Q11] a resource that a member serves is not removed, even if it is marked idle',
    run: async ({ store }) => {
      await openLeft(store)
      await store.roster.join(asMember('d', { serves: [SHARE.name], leads: false }), [SHARE])
      await store.roster.markIdle({ idle: [SHARE.name], busy: [] })
      const before = await store.roster.view()
      assert.deepEqual(await store.roster.forget([SHARE.name], 0), [])
      assert.deepEqual(await store.roster.view(), before)
    },
  },
  {
    title: '[Q7] the epochs of what was removed are added to the floor, once',
    run: async ({ store }) => {
      await openLeft(store)
      assert.equal((await store.roster.view()).epochFloor, 0)
      await store.roster.markIdle({ idle: [SHARE.name], busy: [] })
      await store.roster.forget([SHARE.name], 0)
      await store.roster.forget([SHARE.name], 0)
      assert.equal((await store.roster.view()).epochFloor, 4)
    },
  },
  {
    title: '[Q11] allotments that a decision left without their resource are removed',
    run: async ({ store }) => {
      await openLeft(store)
      await store.roster.markIdle({ idle: [SHARE.name], busy: [] })
      await store.roster.forget([SHARE.name], 0)
      const late = { ...change(1, null, held('c', 1)), resource: SHARE.name }
      await store.roster.decide(decision({ changes: [late] }))
      assert.deepEqual(await allotments(store), [[1, 'c', 1, null]])
      assert.deepEqual(await store.roster.forget([SHARE.name], 0), [])
      assert.deepEqual(await allotments(store), [])
      assert.equal((await store.roster.view()).epochFloor, 5)
    },
  },
]
