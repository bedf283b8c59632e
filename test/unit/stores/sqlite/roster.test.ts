// The roster, fences and locks of the SQLite store survive, and are fenced across processes.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { poolResource } from '../../../../src/fence.ts'
import type { Store } from '../../../../src/store.ts'
import { asPut } from '../../../../src/testing/pool-driver.ts'
import { openTicks } from '../../../../src/testing/ticks-driver.ts'
import { START, VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { sqliteFiles } from '../../../contract/open-sqlite.ts'

async function housing(t: TestContext): Promise<() => Promise<Store>> {
  const path = await sqliteFiles.create()
  const clock = new VirtualClock()
  const opened: Store[] = []
  t.after(async () => {
    for (const store of opened) await store.close()
    await sqliteFiles.remove(path)
  })
  return async () => {
    const store = await sqliteFiles.open(path, clock)
    opened.push(store)
    return store
  }
}

test('[W1] members, leader, allotments, fences and locks are the same after close and open', async (t) => {
  const open = await housing(t)
  const first = await open()
  const resource = { name: 'pool/work', partitions: 2 }
  const said = {
    name: 'host:a',
    address: 'http://h:1',
    version: '1',
    weight: 1.5,
    concurrency: 2,
    leaseMs: 3000,
    leads: true,
  }
  await first.roster.join({ id: 'a', ...said, serves: ['pool/work'] }, [resource])
  const holding = { 'pool/work': [{ partition: 1, epoch: 3 }] }
  const beat = {
    member: 'a',
    leaseMs: 3000,
    leads: true,
    health: { pulse: 'running' as const },
    holding,
    refused: [],
  }
  await first.pulse({ beat, pools: [] })
  const to = { owner: 'a', epoch: 3, next: 'b' }
  const changes = [{ resource: 'pool/work', partition: 1, from: null, to }]
  await first.roster.decide({ leader: 'a', term: 1, leaseMs: 3000, gapMs: 1000, dead: [], changes })
  await first.fences.raise('pool/work', { owner: 'a', held: [{ partition: 1, epoch: 3 }] })
  await first.locks.acquire({ name: 'l', holder: 'h', ttlMs: 10 })
  const seen = async (store: Store): Promise<unknown> => {
    const { roster, fences, locks } = store
    return [await roster.view(), await fences.fences('pool/work'), await locks.held()]
  }
  const before = await seen(first)
  await first.close()
  assert.deepEqual(await seen(await open()), before)
})

test('[F4] a raise of one process refuses the next write of another, which has read under the earlier one', async (t) => {
  const open = await housing(t)
  const [old, fresh] = [await open(), await open()]
  const ticks = await openTicks(old, { partitions: 1 })
  await openTicks(fresh, { partitions: 1 })
  await ticks.pool.putAll([asPut('a', { at: START }), asPut('b', { at: START })])
  const [run] = await ticks.pool.take()
  assert.ok(run !== undefined)
  await fresh.fences.raise(poolResource('ticks'), { owner: 'fresh', held: [{ partition: 0, epoch: 2 }] })
  const [answer] = await ticks.pool.settleAll([{ ...run, outcome: { kind: 'done' } }])
  assert.deepEqual(answer, { result: 'refused', nextDueAt: null })
  const moved = await ticks.move()
  assert.deepEqual([moved.count, moved.refused], [0, [0]])
  assert.equal((await ticks.pool.list()).length, 2)
})

test('[F4] a move that looked before a raise, and writes after it, is refused', async (t) => {
  const store = await (await housing(t))()
  const ticks = await openTicks(store, { partitions: 2 })
  await ticks.pool.putAll(Array.from({ length: 20 }, (_, nth) => asPut(`k${nth}`, { at: START })))
  // The move looks at once, and its write waits behind the raise.
  const raise = store.fences.raise(poolResource('ticks'), {
    owner: 'new',
    held: [{ partition: 1, epoch: 2 }],
  })
  const [, moved] = await Promise.all([raise, ticks.move()])
  const left = await ticks.pool.list()
  assert.deepEqual([moved.refused, moved.nextDueAt], [[1], null])
  assert.equal(moved.count + left.length, 20)
  assert.ok(left.length > 0 && left.every(({ partition }) => partition === 1))
})
