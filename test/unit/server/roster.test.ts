// /v1/roster and /v1/locks, over members that really share the work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AllotmentView, MoveView, RosterView } from '../../../src/client/client.ts'
import { type Members, heldBy, openMembers } from './members.ts'
import { type Answer, ask, assertProblem, serve, until } from './serving.ts'

async function rosterOf({ serving }: Members): Promise<RosterView> {
  const { status, body } = await ask(serving, 'GET', '/v1/roster')
  assert.equal(status, 200, JSON.stringify(body))
  return body as unknown as RosterView
}

function rebalance({ serving }: Members, value: unknown): Promise<Answer> {
  return ask(serving, 'POST', '/v1/roster/rebalance', { body: JSON.stringify(value) })
}

function movesOf({ body }: Answer): string[] {
  return (body['moves'] as MoveView[]).map(({ fromName, toName }) => `${fromName} ${toName}`)
}

test('the roster tells who is there, who leads, and who owns how much', async (t) => {
  const members = await openMembers(t, 2)
  const roster = await rosterOf(members)
  assert.deepEqual([roster.overlap, roster.leaseMs], [0, 600])
  const [m1, m2] = roster.members
  assert.deepEqual([m1?.name, m2?.name], ['m1', 'm2'])
  assert.deepEqual([m1?.partitions, m2?.partitions], [2, 2])
  assert.ok(m1 !== undefined && m1.heartbeatAgeMs < 600 && m1.health['ticks ticks'] === 'running')
  assert.deepEqual(m1.serves, ['pool/ticks'])
  assert.deepEqual([roster.leader?.member, roster.leader?.name, roster.leader?.term], [m1.id, 'm1', 1])
  const [ticks] = roster.resources
  assert.deepEqual([ticks?.name, ticks?.partitions, ticks?.unowned, ticks?.moves], ['pool/ticks', 4, 0, 2])
  assert.deepEqual(
    ticks?.owners.map(({ name, partitions }) => [name, partitions]),
    [
      ['m1', 2],
      ['m2', 2],
    ],
  )
})

test('[O1] the roster tells of a member that believes to own what another owns', async (t) => {
  const members = await openMembers(t, 1)
  const { pulse, roster } = members.store
  const about = {
    address: null,
    version: '1',
    weight: 1,
    concurrency: 1,
    leaseMs: 3000,
    serves: [],
    leads: false,
  }
  await roster.join({ ...about, id: 'ghost', name: 'ghost' }, [])
  const holding = { 'pool/ticks': [{ partition: 0, epoch: 1 }] }
  const beat = { member: 'ghost', leaseMs: 600, leads: false, health: {}, holding, refused: [] }
  // A beat counts that is later than the raise, by whole milliseconds.
  await until(async () => {
    await pulse({ beat, pools: [] })
    return (await rosterOf(members)).overlap === 1
  }, 'the overlap')
  await pulse({ beat: { ...beat, holding: {} }, pools: [] })
  assert.equal((await rosterOf(members)).overlap, 0)
})

test('allotments are listed, all or those of one resource', async (t) => {
  const { serving, races } = await openMembers(t, 1)
  const list = async (path: string): Promise<AllotmentView[]> =>
    (await ask(serving, 'GET', path)).body['items'] as AllotmentView[]
  const all = await list('/v1/roster/allotments')
  assert.deepEqual(
    all.map(({ partition, owner, ownerName, epoch, next }) => [partition, owner, ownerName, epoch, next]),
    [0, 1, 2, 3].map((partition) => [partition, races[0]?.roster.id, 'm1', 1, null]),
  )
  assert.equal((await list('/v1/roster/allotments?resource=pool/ticks')).length, 4)
  assert.deepEqual(await list('/v1/roster/allotments?resource=own/none'), [])
  assertProblem(await ask(serving, 'GET', '/v1/roster/allotments?pool=a'), 400, 'invalid_input')
})

test('[G4] a member is drained by name or id, and gets its share again', async (t) => {
  const { serving, races } = await openMembers(t, 2)
  const [first, second] = races
  assert.ok(first !== undefined && second !== undefined)
  const drained = await ask(serving, 'POST', '/v1/roster/members/m2/drain')
  const { id } = second.roster
  assert.deepEqual(drained.body, { id, name: 'm2', draining: true, partitions: 2, moves: 2 })
  await until(() => heldBy(second) === 0 && heldBy(first) === 4, 'the hand-over')
  const again = await ask(serving, 'DELETE', `/v1/roster/members/${id}/drain`)
  assert.deepEqual(again.body, { id, name: 'm2', draining: false, partitions: 0, moves: 0 })
  await until(() => heldBy(second) === 2, 'its share')
})

test('a drain says what stays where nobody else can serve it', async (t) => {
  const { serving, races } = await openMembers(t, 1)
  const { body } = await ask(serving, 'POST', '/v1/roster/members/m1/drain')
  assert.deepEqual([body['partitions'], body['moves']], [4, 0])
  assert.equal(heldBy(races[0] ?? serving.race), 4)
})

test('a member that is not there, or whose name is not unique, is a problem that names who is', async (t) => {
  const { serving, store } = await openMembers(t, 1)
  assertProblem(await ask(serving, 'POST', '/v1/roster/members/nope/drain'), 404, 'member_unknown')
  assertProblem(await ask(serving, 'DELETE', '/v1/roster/members/nope/drain'), 404, 'member_unknown')
  const { members } = await store.roster.view()
  const [m1] = members
  assert.ok(m1 !== undefined)
  await store.roster.join({ ...m1, id: 'twin' }, [])
  const twice = await ask(serving, 'POST', '/v1/roster/members/m1/drain')
  assertProblem(twice, 404, 'member_unknown')
  assert.match(String(twice.body['remedy']), /twin/)
  assert.equal((await ask(serving, 'POST', '/v1/roster/members/twin/drain')).status, 200)
})

test('[O2] a preview names what a drain would move, and moves nothing', async (t) => {
  const members = await openMembers(t, 2)
  const before = await members.store.roster.view()
  const preview = await rebalance(members, { preview: true, without: ['m2'] })
  assert.deepEqual(movesOf(preview), ['m2 m1', 'm2 m1'])
  assert.deepEqual((await rebalance(members, { preview: true })).body, {
    preview: true,
    moves: [],
    underWay: [],
  })
  assert.equal((await members.store.roster.view()).version, before.version)
  assertProblem(await rebalance(members, { preview: true, without: ['m9'] }), 404, 'member_unknown')
})

test('a rebalance that is no preview says that there is nothing to move, or what moves', async (t) => {
  const members = await openMembers(t, 2)
  const { serving, races } = members
  const settled = { preview: false, moves: [], underWay: [] }
  assert.deepEqual((await ask(serving, 'POST', '/v1/roster/rebalance')).body, settled)
  // What is in flight keeps a partition where it is, so that the move stays under way.
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const use = races[1]?.roster.share({ name: 'pool/ticks', partitions: 4 }).use(() => promise)
  await ask(serving, 'POST', '/v1/roster/members/m2/drain')
  await until(async () => (await rosterOf(members)).resources[0]?.moving === 2, 'moves under way')
  const { body } = await rebalance(members, { preview: false })
  assert.deepEqual([(body['underWay'] as MoveView[]).length, body['moves']], [2, []])
  resolve(undefined)
  await use
})

test('a rebalance that is not understood is refused', async (t) => {
  const members = await openMembers(t, 1)
  const bodies = [
    [],
    { prevew: true },
    { preview: 'yes' },
    { preview: true, without: 'm1' },
    { without: ['m1'] },
  ]
  for (const body of bodies) assertProblem(await rebalance(members, body), 400, 'invalid_input')
})

test('[K4] any member can be asked to have the leader step down', async (t) => {
  const { serving, store, races } = await openMembers(t, 2)
  const { body } = await ask(serving, 'POST', '/v1/roster/step-down')
  const member = races[0]?.roster.id
  assert.deepEqual(body, { steppedDown: true, member, name: 'm1', term: 1 })
  await until(async () => (await store.roster.view()).leader?.term === 2, 'another term')
})

test('without a leader nobody steps down', async (t) => {
  const serving = await serve(t, { race: { join: 'no' } })
  const { body } = await ask(serving, 'POST', '/v1/roster/step-down')
  assert.deepEqual(body, { steppedDown: false, member: null, name: null, term: null })
})

test('locks that are held are listed', async (t) => {
  const serving = await serve(t)
  assert.deepEqual((await ask(serving, 'GET', '/v1/locks')).body, { items: [] })
  const lock = await serving.race.lock('report', { ttl: '10s' })
  const [held] = (await ask(serving, 'GET', '/v1/locks')).body['items'] as Record<string, unknown>[]
  assert.deepEqual([held?.['name'], held?.['token']], ['report', 1])
  assert.match(String(held?.['expiresAt']), /Z$/)
  await lock?.release()
  assert.deepEqual((await ask(serving, 'GET', '/v1/locks')).body, { items: [] })
})
