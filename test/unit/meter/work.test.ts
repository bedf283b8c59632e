// What a worker tells its meter, over memory and a virtual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram } from '../../../src/meter/histogram.ts'
import type { Meter } from '../../../src/meter/meter.ts'
import { type PoolView, workView } from '../../../src/meter/work-view.ts'
import { again, cancel, dead, retry } from '../../../src/pool/answer.ts'
import type { Handler } from '../../../src/pool/run.ts'
import { openWorker, waitingHandler } from '../pool/open-worker.ts'

function only(meter: Meter, window: '1s' | '10s' = '1s'): PoolView {
  const [view] = workView(meter.pools(), { window })
  assert.ok(view !== undefined)
  return view
}

/** The series of a metric as `label,label value`. */
function series(meter: Meter, name: string): string[] {
  const found = meter.metrics().find((metric) => metric.name === name)?.series ?? []
  return found.map(({ labels, value }) => {
    return `${Object.values(labels).join()} ${value instanceof Histogram ? value.count : value}`
  })
}

test('[I1] a run is measured from its put to the answer of its settle', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker } = await openWorker(handler, { concurrency: 1 })
  await pool.putAll([
    { key: 'a', in: 2000 },
    { key: 'b', in: 2000 },
  ])
  await clock.advance(2000)
  await clock.advance(300)
  calls[0]?.end()
  await clock.advance(0)
  calls[1]?.end()
  await clock.advance(1000)
  const [lane] = only(meter).lanes
  const steps = lane?.buckets[0]?.steps
  assert.equal(lane?.lane, 'normal')
  assert.deepEqual([steps?.lateness?.maxMs, steps?.delay?.maxMs, steps?.delay?.count], [0, 2000, 2])
  assert.deepEqual([steps?.run?.maxMs, steps?.wait?.maxMs, steps?.settle?.count], [300, 300, 2])
  await worker.service.stop()
})

test('[I4] coalescing is the puts that finished runs stood for; retries, deaths and cancels are counted apart', async () => {
  const answers: Record<string, ReturnType<Handler>> = {
    again: again('1h'),
    retry: retry('1h'),
    dead: dead('no'),
    cancel: cancel(),
  }
  const { clock, pool, meter, worker } = await openWorker(({ key }) => answers[key])
  await pool.putAll(
    ['done', 'done', 'done', 'done', 'again', 'retry', 'retry', 'dead', 'cancel'].map((key) => ({
      key,
      in: 100,
    })),
  )
  await clock.advance(2000)
  const bucket = only(meter).lanes[0]?.buckets[0]
  assert.deepEqual([bucket?.taken, bucket?.finished, bucket?.coalescing], [5, 3, 2])
  assert.deepEqual([bucket?.again, bucket?.retried, bucket?.dead, bucket?.cancelled], [1, 1, 1, 1])
  assert.deepEqual(series(meter, 'headrace_runs_asked_total'), ['work,normal 6'])
  assert.deepEqual(
    series(meter, 'headrace_runs_ended_total'),
    ['done 1', 'again 1', 'dead 1', 'retry 1', 'cancel 1', 'let-go 0'].map((line) => `work,normal,${line}`),
  )
  assert.deepEqual(series(meter, 'headrace_run_seconds'), ['work,normal 5'])
  await worker.service.stop()
})

test('[I4] a settle that finds no turn, or a fence that is another’s, is a collision', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, store, worker } = await openWorker(handler)
  await pool.put('gone')
  await clock.advance(10)
  await pool.cancel('gone')
  calls[0]?.end()
  await clock.advance(10)
  await pool.put('lost')
  await clock.advance(10)
  await store.fences.raise('pool/work', { owner: 'other', held: [{ partition: 0, epoch: 9 }] })
  calls[1]?.end()
  await clock.advance(1000)
  const bucket = only(meter).lanes[0]?.buckets[0]
  assert.deepEqual(bucket?.collisions, { lost: 1, refused: 1, perSecond: 2 })
  assert.deepEqual(series(meter, 'headrace_collisions_total'), [
    'work,normal,lost 1',
    'work,normal,refused 1',
  ])
  await worker.service.stop()
})

test('[I6] what is due and waits for a handler is overdue, and says when there may be more', async () => {
  const { handler, calls } = waitingHandler()
  const { clock, pool, meter, worker } = await openWorker(handler, { concurrency: 1 })
  assert.deepEqual(only(meter).overdue, { count: 0, atLeast: false, oldestMs: 0, unknown: null })
  await pool.putAll(['a', 'b', 'c', 'd'].map((key) => ({ key })))
  await clock.advance(700)
  const { overdue, running, concurrency } = only(meter)
  assert.deepEqual([running, concurrency, calls.length], [1, 1, 1])
  assert.ok(overdue.count !== null && overdue.count >= 1 && overdue.atLeast, JSON.stringify(overdue))
  assert.equal(overdue.oldestMs, 700)
  assert.deepEqual(series(meter, 'headrace_overdue_oldest_seconds')[1], 'work,normal 0.7')
  void worker.service.stop()
})

test('[I5] [I6] a member that holds nothing of the pool knows nothing of what is overdue, and says so', async () => {
  const { pool, meter, clock } = await openWorker(() => undefined, { held: [] })
  await pool.put('a')
  await clock.advance(100)
  const { count, oldestMs, unknown } = only(meter).overdue
  assert.deepEqual([count, oldestMs], [null, null])
  assert.match(unknown ?? '', /holds no partition/)
  assert.deepEqual(series(meter, 'headrace_overdue'), [])
})
