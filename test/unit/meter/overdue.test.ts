// What a worker says is overdue while it is paused, limited, or lets runs wait behind others; over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Meter } from '../../../src/meter/meter.ts'
import type { Overdue } from '../../../src/meter/overdue.ts'
import { type PoolView, workView } from '../../../src/meter/work-view.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { type OpenWorker, openWorker, waitingHandler } from '../pool/open-worker.ts'

function view(meter: Meter, lane?: 'normal' | 'bulk'): PoolView {
  const [found] = workView(meter.pools(), { window: '1s', lane })
  assert.ok(found !== undefined)
  return found
}

/** The series of a metric as `label,label value`. */
function series(meter: Meter, name: string): string[] {
  const found = meter.metrics().find((metric) => metric.name === name)?.series ?? []
  return found.map(({ labels, value }) => `${Object.values(labels).join()} ${Number(value)}`)
}

const many = (count: number, group?: string): { key: string; group?: string }[] =>
  Array.from({ length: count }, (_, nth) => ({ key: `k${nth}`, ...(group !== undefined && { group }) }))

async function pulse({ worker, store, clock }: OpenWorker): Promise<void> {
  worker.notice(await store.pulse({ beat: null, pools: worker.ask() }), clock.now())
}

test('[I5] [I6] what a pause let go counts as overdue, and there may be more', async () => {
  const { handler } = waitingHandler()
  const { clock, pool, meter, worker } = await openWorker(handler, { concurrency: 1 })
  await pool.putAll(many(1000))
  await clock.advance(100)
  await pool.pause({ by: 'ann', reason: 'deploy' })
  await clock.advance(60_000)
  const { overdue, paused, lanes } = view(meter)
  const { count, ...rest } = overdue
  assert.ok(count !== null && count >= 1, JSON.stringify(overdue))
  assert.deepEqual(rest, { atLeast: true, oldestMs: 60_100, unknown: 'paused by ann' })
  assert.deepEqual([paused?.by, paused?.reason], ['ann', 'deploy'])
  assert.deepEqual(
    lanes.map(({ lane, overdue: each }) => [lane, each]),
    [['normal', overdue]],
  )
  assert.deepEqual(series(meter, 'headrace_overdue_oldest_seconds'), ['work,normal 60.1'])
  assert.deepEqual(series(meter, 'headrace_paused'), ['work 1'])
  void worker.service.stop()
})

test('[I6] a pulse that was asked for while something was in flight does not say that nothing else is due', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker, store } = await openWorker(handler, { concurrency: 1 })
  await pool.putAll(many(10))
  await clock.advance(100)
  const sent = clock.now()
  const late = await store.pulse({ beat: null, pools: worker.ask() })
  await pool.pause({ by: 'ann' })
  await clock.advance(10)
  calls[0]?.end()
  await clock.advance(1000)
  const before = view(meter).overdue
  assert.equal(before.count, 1)
  // As PostgreSQL answers, which reads no further back than it was asked to.
  worker.notice({ ...late, nextDueAt: new Map() }, sent)
  assert.deepEqual(view(meter).overdue, before)
  await worker.service.stop()
})

test('[I5] [I6] a pool that is paused before anything is due is unknown until a pulse tells that something is', async () => {
  const opened = await openWorker(() => undefined)
  const { clock, pool, meter, worker } = opened
  assert.deepEqual(series(meter, 'headrace_paused'), ['work 0'])
  await pool.pause({ by: 'ann' })
  await clock.advance(10)
  const unknown: Overdue = { count: null, atLeast: false, oldestMs: null, unknown: 'paused by ann' }
  assert.deepEqual(view(meter).overdue, unknown)
  await pool.putAll(many(3))
  await clock.advance(5000)
  await pulse(opened)
  const { overdue, lanes } = view(meter)
  assert.deepEqual(overdue, { count: 1, atLeast: true, oldestMs: 5000, unknown: 'paused by ann' })
  assert.deepEqual([lanes, view(meter, 'bulk').lanes[0]?.overdue], [[], unknown])
  assert.deepEqual(series(meter, 'headrace_overdue'), ['work 1'])
  for (const { key } of many(3)) await pool.cancel(key)
  await pulse(opened)
  assert.deepEqual(view(meter).overdue, unknown)
  await pool.resume()
  await clock.advance(100)
  assert.deepEqual(view(meter).overdue, { count: 0, atLeast: false, oldestMs: 0, unknown: null })
  await worker.service.stop()
})

test('[I6] a pulse corrects what a pause let go and somebody has cancelled since', async () => {
  const { handler, calls } = waitingHandler()
  const opened = await openWorker(handler, { concurrency: 1 })
  const { clock, pool, meter, worker } = opened
  await pool.putAll(many(3))
  await clock.advance(10)
  await pool.pause()
  calls[0]?.end()
  await clock.advance(1000)
  assert.equal(view(meter).overdue.unknown, 'paused')
  assert.ok((view(meter).overdue.count ?? 0) >= 1)
  await pool.cancel('k1')
  await pool.cancel('k2')
  await pulse(opened)
  assert.equal(view(meter).overdue.count, null)
  await worker.service.stop()
})

test('[I6] [L16] what a limit holds back is overdue: what waits aside by its number, what was passed over as one more', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker } = await openWorker(handler, { concurrency: 10 })
  await pool.limit({ group: { concurrency: 1 } })
  await pool.putAll(many(5, 'a'))
  await clock.advance(10)
  assert.deepEqual(view(meter).overdue, { count: 4, atLeast: false, oldestMs: 10, unknown: null })
  for (let nth = 0; nth < 20; nth += 1) {
    await pool.putAll(many(100, 'a').map(({ key, group }) => ({ key: `${nth}-${key}`, group: group ?? '' })))
    await clock.advance(1)
  }
  await clock.advance(6970)
  const { overdue, lanes } = view(meter)
  assert.equal(calls.length, 1)
  assert.ok(overdue.count !== null && overdue.count >= 100, JSON.stringify(overdue))
  assert.deepEqual([overdue.atLeast, overdue.oldestMs, overdue.unknown], [true, 7000, null])
  assert.deepEqual(lanes[0]?.overdue, overdue)
  const [first] = meter.pools()
  const limit = { kind: 'concurrency', scope: 'group', limit: 1, perMs: null, share: null }
  assert.deepEqual(first?.worker.reached, limit)
  void worker.service.stop()
})

test('[I6] [X20] runs that wait behind one of their key are overdue, each in its lane', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker } = await openWorker(handler, { mode: 'each' })
  await pool.putAll([0, 1, 2, 3].map((nth) => ({ key: 'vm', at: START + nth })))
  await pool.put('other', { at: START, lane: 'bulk' })
  await clock.advance(900)
  assert.deepEqual([calls.length, worker.inFlight], [2, 2])
  const { overdue, lanes } = view(meter)
  assert.deepEqual(overdue, { count: 3, atLeast: false, oldestMs: 899, unknown: null })
  assert.deepEqual(
    lanes.map(({ lane, overdue: each }) => [lane, each.count, each.oldestMs]),
    [
      ['normal', 3, 899],
      ['bulk', 0, 0],
    ],
  )
  assert.deepEqual(series(meter, 'headrace_overdue'), ['work,fanout 0', 'work,normal 3', 'work,bulk 0'])
  void worker.service.stop()
})

test('[I5] [I6] what came while a limit was reached and nobody looked is not said to be nothing', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker, takes } = await openWorker(handler)
  await pool.putAll(many(4))
  await clock.advance(100)
  await pool.limit({ pool: { concurrency: 1 } })
  await clock.advance(100)
  const before = takes.length
  await pool.putAll(many(50).map(({ key }) => ({ key: `later-${key}` })))
  await clock.advance(5000)
  assert.deepEqual([calls.length, takes.length], [4, before])
  assert.deepEqual(view(meter).overdue, {
    count: null,
    atLeast: false,
    oldestMs: null,
    unknown: 'more may be due than was looked at',
  })
  assert.deepEqual(series(meter, 'headrace_overdue'), [])
  void worker.service.stop()
})
