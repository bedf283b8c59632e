// A memory store that goes back to an earlier state: it holds what it held then, and gives no number again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noFaults } from '../../../../src/fault.ts'
import { poolResource } from '../../../../src/fence.ts'
import { NO_CONTROL } from '../../../../src/pool/control.ts'
import type { Store } from '../../../../src/store.ts'
import { Snapshots } from '../../../../src/stores/memory/snapshots.ts'
import { openMemoryStore } from '../../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../../src/telemetry.ts'
import { openTopic } from '../../../../src/testing/log-driver.ts'
import { PoolDriver, asPut, openPool } from '../../../../src/testing/pool-driver.ts'
import {
  RESOURCE,
  allotments,
  asMember,
  beat,
  change,
  decision,
  held,
  known,
  openTwo,
} from '../../../../src/testing/roster-driver.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const REPEAT = { id: 'r', fingerprint: 'f', keepMs: 60_000 }

function open(): { store: Store; clock: VirtualClock; take: () => () => void } {
  const clock = new VirtualClock()
  const snapshots = new Snapshots()
  const store = openMemoryStore({ clock, telemetry: createTelemetry('store'), faults: noFaults }, snapshots)
  const take = (): (() => void) => {
    const goBack = snapshots.take()
    assert.ok(goBack !== null)
    return goBack
  }
  return { store, clock, take }
}

async function generationOf(store: Store): Promise<string> {
  return (await store.pulse({ beat: null, pools: [] })).generation
}

/** The same pool, by a claim that was raised since the store went back. */
async function regained(store: Store, { settings }: PoolDriver): Promise<PoolDriver> {
  const fences = await store.fences.fences(poolResource(settings.name))
  const claimed = fences.map(({ partition, epoch }) => ({ partition, epoch: epoch + 1 }))
  const claim = { owner: 'next', held: claimed }
  await store.fences.raise(poolResource(settings.name), claim)
  return new PoolDriver(store, settings, claim)
}

test('[G6] a store that goes back holds the entries, deaths, answers and events of then, and no others', async () => {
  const { store, clock, take } = open()
  const pool = await openPool(store, { payloads: 'all', throttleMs: 5000 })
  const topic = await openTopic(store)
  for (const key of ['a', 'b']) await pool.put(key, { payload: `"${key}"` })
  const [a, b] = await pool.take()
  assert.ok(a !== undefined && b !== undefined)
  await pool.settle(a, { kind: 'dead', reason: 'handler', error: null })
  await pool.request([asPut('c', { at: clock.now() + 9000 })], REPEAT)
  await topic.append(0, 'e1')
  const all = async (): Promise<unknown> => [
    await pool.list(),
    await pool.take(),
    await pool.deaths(),
    await store.log.topic('events'),
    await store.pool.progress.read('work', b),
  ]
  await store.pool.progress.tell('work', [{ ...b, progress: '1' }], pool.claim)
  const before = await all()
  const goBack = take()
  for (const key of ['b', 'd']) await pool.put(key, { payload: '"later"' })
  await pool.settle(b, { kind: 'dead', reason: 'handler', error: null })
  await pool.cancel('c')
  await topic.append(0, 'e2')
  await store.pool.progress.tell('work', [{ ...b, progress: '2' }], pool.claim)
  assert.notDeepEqual(await all(), before)
  goBack()
  assert.deepEqual(await all(), before)
  const again = await pool.request([asPut('c', { at: clock.now() + 9000 })], REPEAT)
  assert.ok(again.kind === 'answered' && again.replayed)
})

test('[G6] a put that was forgotten is made again, and what was opened since is open, and empty', async () => {
  const { store, take } = open()
  const pool = await openPool(store)
  const goBack = take()
  await pool.request([asPut('a')], REPEAT)
  const [other, topic] = [await openPool(store, { name: 'other' }), await openTopic(store)]
  await other.put('a')
  await topic.append(0, 'e1')
  goBack()
  const again = await pool.request([asPut('a')], REPEAT)
  assert.ok(again.kind === 'answered' && !again.replayed)
  assert.deepEqual(await other.list(), [])
  assert.deepEqual(
    (await store.log.topic('events')).bounds.map(({ head }) => head),
    [0, 0],
  )
})

test('[G6] a turn that is lost is not given again, and the first merge into an older entry renews its turn', async () => {
  const { store, clock, take } = open()
  const pool = await openPool(store)
  await pool.put('old')
  const [old] = await pool.take()
  const goBack = take()
  await pool.put('lost')
  const lost = (await pool.take()).find(({ key }) => key === 'lost')
  goBack()
  assert.ok(old !== undefined && lost !== undefined)
  assert.equal((await pool.settle(old, { kind: 'done' })).result, 'refused')
  const next = await regained(store, pool)
  await next.put('lost')
  assert.equal((await next.settle(lost, { kind: 'done' })).result, 'gone')
  assert.deepEqual(
    (await next.take()).find(({ key }) => key === 'old')?.turn,
    old.turn,
    'nothing was merged into it yet',
  )
  await clock.leap(1)
  await next.put('old')
  assert.equal((await next.settle(old, { kind: 'done' })).result, 'gone')
  const renewed = (await next.take()).find(({ key }) => key === 'old')
  assert.equal(renewed?.seen, 2)
  await next.put('old')
  assert.equal((await next.take()).find(({ key }) => key === 'old')?.turn, renewed?.turn, 'once')
})

test('[G6] nobody is a member, leads or has a fence, and no term, epoch or version is given again', async () => {
  const { store, take } = open()
  await openTwo(store)
  await store.roster.decide(decision({ changes: [change(0, null, held('a', 1))] }))
  const raise = { owner: 'a', held: [{ partition: 0, epoch: 1 }], concurrency: 3 }
  await store.fences.raise(RESOURCE.name, raise)
  const goBack = take()
  await store.roster.decide(decision({ changes: [change(0, held('a', 1), held('b', 7))] }))
  const [before, first] = [await store.roster.view(), await generationOf(store)]
  goBack()
  assert.notEqual(await generationOf(store), first)
  const view = await store.roster.view()
  assert.deepEqual([view.members, view.resources], [[], [RESOURCE]])
  assert.ok(view.version > before.version)
  assert.deepEqual(await beat(store, 'a'), { known: false })
  assert.equal((await store.roster.decide(decision())).kind, 'not-leader')
  const [[, owner, epoch] = []] = await allotments(store)
  assert.ok(owner === 'a' && epoch !== undefined && epoch > 7)
  const [fence] = await store.fences.fences(RESOURCE.name)
  assert.deepEqual([fence?.owner, fence?.epoch], ['', epoch])
  const again = { ...raise, owner: 'c', held: [{ partition: 0, epoch: epoch + 1 }] }
  const [raised] = await store.fences.raise(RESOURCE.name, again)
  assert.deepEqual([raised?.raised, raised?.suspects], [true, 0])
  await store.roster.join(asMember('c'), [RESOURCE])
  const { leader } = await known(store, 'c')
  assert.ok(leader?.member === 'c' && leader.term > 1)
  const changes = [change(1, null, held('c', 1))]
  await store.roster.decide(decision({ leader: 'c', term: leader.term, changes }))
  assert.ok(((await allotments(store))[1]?.[2] ?? 0) > 7, 'a new allotment neither')
})

test('[G6] tokens of locks and versions of what steers a pool go on', async () => {
  const { store, clock, take } = open()
  const { control } = store.pool
  const paused = { ...NO_CONTROL, paused: { until: null, reason: null } } as typeof NO_CONTROL
  assert.equal(await control.write('work', 0, paused), 1)
  const goBack = take()
  await control.write('work', 1, NO_CONTROL)
  await control.write('late', 0, paused)
  const acquire = { name: 'l', holder: 'h', ttlMs: 1000 }
  const lost = await store.locks.acquire(acquire)
  goBack()
  const { version, control: kept } = await control.read('work')
  assert.deepEqual([version, kept], [3, paused])
  assert.deepEqual((await control.read('late')).control, NO_CONTROL)
  assert.equal(await control.write('work', 2, NO_CONTROL), null)
  assert.deepEqual(await store.locks.held(), [])
  const found = await store.locks.acquire({ ...acquire, holder: 'other' })
  assert.ok(lost !== null && found !== null && found.token > lost.token)
  await clock.leap(1001)
  const next = await store.locks.acquire({ ...acquire, holder: 'third' })
  assert.ok(next !== null && next.token > found.token)
})
