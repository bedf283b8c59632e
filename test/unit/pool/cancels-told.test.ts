// Cancels that a worker is told of by others, through what steers the pool.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCancels } from '../../../src/pool/control.ts'
import type { CancelledName } from '../../../src/pool/entry.ts'
import { RunAborted } from '../../../src/pool/run.ts'
import { Cluster, type ClusterMember } from '../../../src/testing/cluster.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { type Call, type OpenWorker, openWorker, waitingHandler } from './open-worker.ts'

/** Two members: one that only asks, and one whose handler waits. */
async function startTwo(): Promise<{ cluster: Cluster; asks: ClusterMember; calls: Call[] }> {
  const cluster = new Cluster()
  const { handler, calls } = waitingHandler()
  const asks = await cluster.add({}, () => undefined)
  await cluster.add({}, ({ race }) => void race.work(race.pool('work'), handler))
  await cluster.clock.advance(6000)
  return { cluster, asks, calls }
}

/** Somebody tells of cancels; the entries are another matter. */
async function tell({ clock, store }: OpenWorker, ...names: CancelledName[]): Promise<void> {
  const { version, control } = await store.pool.control.read('work')
  await store.pool.control.write('work', version, withCancels(control, names, version + 1))
  await clock.advance(25)
}

const isAborted = (call: Call | undefined): boolean | undefined => call?.ctx.signal.aborted

test('[X24] a cancel on one member fires the signal of the run on another, and what that throws is no failure', async () => {
  const { cluster, asks, calls } = await startTwo()
  const pool = asks.race.pool('work')
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await cluster.clock.advance(10)
  assert.equal(await pool.cancel('a'), 'due')
  await cluster.clock.advance(1000)
  assert.deepEqual([isAborted(calls[0]), isAborted(calls[1])], [true, false])
  const reason: unknown = calls[0]?.ctx.signal.reason
  assert.ok(reason instanceof RunAborted && reason.why === 'cancel')
  calls[0]?.fail(reason)
  calls[1]?.end()
  await cluster.clock.advance(2000)
  assert.deepEqual([calls.length, await pool.count()], [2, { waiting: 0, due: 0, 'backing-off': 0, dead: 0 }])
  await cluster.stop()
})

test('[X24] what is put right after the cancel is run, and is not called off', async () => {
  const { cluster, asks, calls } = await startTwo()
  const pool = asks.race.pool('work')
  await pool.put('a')
  await cluster.clock.advance(10)
  await pool.cancel('a')
  calls[0]?.end()
  await pool.put('a', { payload: 'anew' })
  await cluster.clock.advance(2000)
  assert.deepEqual([calls.length, calls[1]?.run.payload, isAborted(calls[1])], [2, 'anew', false])
  calls[1]?.end()
  await cluster.clock.advance(10)
  assert.equal(await pool.get('a'), null)
  await cluster.stop()
})

test('[X24] a run whose turn is there goes on, whatever others tell of its key, and is called off when that is gone', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler)
  await open.pool.put('a')
  await open.clock.advance(10)
  await tell(open, { key: 'a' }, { key: 'b', slot: null })
  assert.equal(isAborted(calls[0]), false)
  await open.store.pool.entries.cancel('work', { key: 'a' })
  await open.pool.pause()
  await open.clock.advance(1000)
  assert.equal(isAborted(calls[0]), false)
  await tell(open, { key: 'a', slot: null })
  assert.equal(isAborted(calls[0]), true)
  calls[0]?.end()
  await open.clock.advance(10)
  await open.worker.service.stop()
})

test('[X24] what waits behind its key is read again, and does not start if it was cancelled', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler, { mode: 'each' })
  const { clock, pool, store, worker } = open
  await pool.putAll([3, 2, 1].map((before) => ({ key: 'a', at: START - before })))
  await clock.advance(100)
  await store.pool.entries.cancel('work', { key: 'a', slot: START - 2 })
  await tell(open, { key: 'a', slot: START - 2 })
  assert.equal(isAborted(calls[0]), false)
  for (let nth = 0; nth < 2; nth += 1) {
    calls[nth]?.end()
    await clock.advance(1000)
  }
  assert.deepEqual(
    calls.map(({ run }) => START - Number(run.at)),
    [3, 1],
  )
  await worker.service.stop()
})

test('[X24] a worker that hears no hint is told by its next pulse', async () => {
  const { handler, calls } = waitingHandler()
  const open = await openWorker(handler, { watch: () => () => undefined })
  const { clock, pool, store, worker } = open
  await pool.put('a')
  const seen = {
    now: START,
    nextDueAt: new Map(),
    beaten: null,
    arrived: [],
    refusal: null,
    generation: 'first',
  }
  worker.notice({ ...seen, nextDueAt: new Map([['work', START]]), controls: new Map([['work', 0]]) }, START)
  await clock.advance(10)
  await store.pool.entries.cancel('work', { key: 'a' })
  await tell(open, { key: 'a' })
  assert.equal(isAborted(calls[0]), false)
  worker.notice({ ...seen, controls: new Map([['work', 1]]) }, START)
  await clock.advance(1)
  assert.equal(isAborted(calls[0]), true)
  calls[0]?.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[X24] a run that a take brings which was under way when its cancel was told is called off', async () => {
  const { handler, calls } = waitingHandler()
  const gate: { held: Promise<void> | null } = { held: null }
  const open = await openWorker(handler, {
    entries: (entries) => ({
      take: async (...asked) => {
        const taken = await entries.take(...asked)
        await gate.held
        return taken
      },
    }),
  })
  const { clock, pool, store, worker } = open
  const { promise, resolve } = Promise.withResolvers<void>()
  gate.held = promise
  await pool.putAll([{ key: 'a' }, { key: 'b' }])
  await clock.advance(10)
  await store.pool.entries.cancel('work', { key: 'a' })
  await tell(open, { key: 'a' })
  resolve()
  await clock.advance(10)
  const a = calls.find(({ run }) => run.key === 'a')
  assert.deepEqual([a === undefined || isAborted(a), calls.some(({ run }) => run.key === 'b')], [true, true])
  for (const call of calls) call.end()
  await clock.advance(10)
  await worker.service.stop()
})

test('[X24] a member that hands all over is told as long as it has runs under way', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, ownership, store, worker } = await openWorker(handler, { partitions: 2 })
  await pool.put('a')
  await clock.advance(10)
  assert.deepEqual(worker.ask()[0]?.partitions, [0, 1])
  const leaving = {
    resource: ownership.resource.name,
    owner: 'me',
    epoch: 1,
    next: 'you',
    since: 0,
    moves: 0,
  }
  ownership.follow([0, 1].map((partition) => ({ ...leaving, partition })))
  const request = { beat: null, pools: worker.ask() }
  assert.deepEqual(request.pools[0]?.partitions, [0, 1])
  await store.pool.entries.cancel('work', { key: 'a' })
  const { version, control } = await store.pool.control.read('work')
  await store.pool.control.write('work', version, withCancels(control, [{ key: 'a' }], version + 1))
  worker.notice(await store.pulse(request), clock.now())
  await clock.advance(10)
  assert.equal(isAborted(calls[0]), true)
  calls[0]?.end()
  await clock.advance(10)
  assert.deepEqual(worker.ask(), [])
  await worker.service.stop()
})
