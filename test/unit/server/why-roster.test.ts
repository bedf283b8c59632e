// /v1/why where the roster or the store is what keeps a key waiting, brought about for real.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/clock.ts'
import { HeadraceError } from '../../../src/errors.ts'
import { noFaults } from '../../../src/fault.ts'
import { partitionOf } from '../../../src/partition.ts'
import type { Store } from '../../../src/store.ts'
import { openMemoryStore } from '../../../src/stores/memory/store.ts'
import { createTelemetry } from '../../../src/telemetry.ts'
import { changed } from '../open-race.ts'
import { type Serving, ask, serve, until } from './serving.ts'

/** A member that joins, and is never heard of again. */
async function joinGhost({ store }: Serving['race'], pool: string): Promise<void> {
  const about = { name: 'ghost', address: 'http://ghost:7400', version: '0', weight: 1, concurrency: 1 }
  const ghost = { id: `ghost-${pool}`, ...about, serves: [`pool/${pool}`], leads: false, leaseMs: null }
  await store.roster.join(ghost, [{ name: `pool/${pool}`, partitions: 4 }])
}

async function reasonOf(serving: Serving, pool: string, key: string): Promise<Record<string, unknown>> {
  const { status, body } = await ask(serving, 'GET', `/v1/why?pool=${pool}&key=${key}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test('[I8] what is due while no member works on the pool has no consumer', async (t) => {
  const serving = await serve(t)
  await joinGhost(serving.race, 'left')
  await serving.race.store.roster.leave('ghost-left', [])
  await serving.race.pool('left', { partitions: 4 }).put('k')
  const found = await reasonOf(serving, 'left', 'k')
  assert.deepEqual([found['reason'], found['owner']], ['no_consumer', null])
})

test('[I8] what is due before anybody was given its partition is unowned', async (t) => {
  const serving = await serve(t, { race: { join: 'no' } })
  await joinGhost(serving.race, 'lone')
  await serving.race.pool('lone', { partitions: 4 }).put('k')
  assert.equal((await reasonOf(serving, 'lone', 'k'))['reason'], 'partition_unowned')
})

test('[I8] a member that does not own the partition names the one that does', async (t) => {
  const serving = await serve(t)
  await joinGhost(serving.race, 'away')
  await serving.race.pool('away', { partitions: 4 }).put('k')
  await until(async () => (await reasonOf(serving, 'away', 'k'))['reason'] === 'unknown', 'its owner')
  const { owner, next } = await reasonOf(serving, 'away', 'k')
  assert.deepEqual(owner, { name: 'ghost', address: 'http://ghost:7400' })
  assert.equal(next, 'ask it: headrace why --server http://ghost:7400')
})

test('[I8] what waits behind a run of a partition that is to be handed over is moving', async (t) => {
  const serving = await serve(t, { race: { name: 'm1', lease: '30s', drainWithin: '5s' } })
  const { promise, resolve } = Promise.withResolvers<void>()
  const pool = serving.race.pool('vms')
  const groups = [0, 1, 2, 3].map((wanted) => {
    let nth = 0
    while (partitionOf(`g${nth}`, 4) !== wanted) nth += 1
    return `g${nth}`
  })
  serving.race.work(pool, () => promise, { concurrency: 4 })
  await pool.putAll(groups.map((group) => ({ key: `first-${group}`, group })))
  const running = async (): Promise<boolean> =>
    (await Promise.all(groups.map((group) => reasonOf(serving, 'vms', `first-${group}`)))).every(
      ({ state }) => state === 'running',
    )
  await until(running, 'a run in each partition')
  await pool.putAll(groups.map((group) => ({ key: `second-${group}`, group })))
  await joinGhost(serving.race, 'vms')
  serving.race.roster.look()
  const reasons = async (): Promise<unknown[]> =>
    (await Promise.all(groups.map((group) => reasonOf(serving, 'vms', `second-${group}`)))).map(
      (each) => each['reason'],
    )
  await until(async () => (await reasons()).includes('partition_moving'), 'a move')
  assert.ok((await reasons()).includes('pool_full'))
  resolve()
})

test('[I8] what is due while the store refuses to be read waits for the store', async (t) => {
  const memory = openMemoryStore({ clock: systemClock, telemetry: createTelemetry('slow'), faults: noFaults })
  const entries = changed(memory.pool.entries, {
    take: () => Promise.reject(new HeadraceError('store_failed', 'it is not there')),
  })
  const store: Store = { ...memory, pool: { ...memory.pool, entries } }
  const serving = await serve(t, { race: { drainWithin: 0 } }, { store })
  const pool = serving.race.pool('vms')
  serving.race.work(pool, () => undefined)
  await pool.put('k')
  await until(async () => (await reasonOf(serving, 'vms', 'k'))['reason'] === 'store_slow', 'the reason')
})
