// /v1/meter, /v1/verdict and /v1/stream on a real server.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Broadcast } from '../../../src/server/broadcast.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type Serving, ask, assertProblem, openWire, serve, until } from './serving.ts'

interface Worked {
  pools: { pool: string; running: number; lanes: { lane: string; buckets: { finished: number }[] }[] }[]
  store: { calls: number }
}

async function serveWork(t: TestContext): Promise<Serving> {
  const serving = await serve(t)
  const pool = serving.race.pool('vms')
  let ended = 0
  serving.race.work(pool, () => void (ended += 1))
  await pool.putAll(Array.from({ length: 10 }, (_, nth) => ({ key: `vm-${nth}` })))
  await until(() => ended === 10, 'ten runs')
  return serving
}

test('[I3] the meter is answered by pool, lane and window', async (t) => {
  const serving = await serveWork(t)
  const read = async (): Promise<Worked> =>
    (await ask(serving, 'GET', '/v1/meter?pool=vms&lane=normal&window=1s')).body as unknown as Worked
  await until(
    async () => ((await read()).pools[0]?.lanes[0]?.buckets.length ?? 0) > 0,
    'a second that is over',
  )
  const { pools } = await read()
  const finished = pools[0]?.lanes[0]?.buckets.reduce((sum, bucket) => sum + bucket.finished, 0)
  assert.deepEqual([pools.length, pools[0]?.pool, finished], [1, 'vms', 10])
  const { body } = await ask(serving, 'GET', '/v1/meter?pool=none')
  assert.deepEqual([body['pools'], body['window']], [[], '10s'])
  assertProblem(await ask(serving, 'GET', '/v1/meter?window=5s'), 400, 'invalid_input')
  assertProblem(await ask(serving, 'GET', '/v1/meter?lane=fast'), 400, 'invalid_input')
})

test('[I1] the work of pools is in the metrics for Prometheus', async (t) => {
  const serving = await serveWork(t)
  const { body } = await ask(serving, 'GET', '/metrics')
  const text = String(body['text'])
  assert.match(text, /\nheadrace_runs_taken_total\{pool="vms",lane="normal"\} 10\n/)
  assert.match(text, /\nheadrace_run_lateness_seconds_count\{pool="vms",lane="normal"\} 10\n/)
  assert.match(text, /\nheadrace_run_seconds_bucket\{pool="vms",lane="normal",le="\+Inf"\} 10\n/)
  assert.match(text, /\nheadrace_concurrency\{pool="vms"\} 10\n/)
})

test('[I10] the verdict is one sentence', async (t) => {
  const serving = await serveWork(t)
  const { body } = await ask(serving, 'GET', '/v1/verdict')
  assert.equal(body['status'], 'ok', JSON.stringify(body))
  assert.match(String(body['sentence']), /^(Work is flowing|Idle)/)
})

test('[I5] [I10] a paused pool is told by the verdict, the meter and the metrics, and has no zero for what is due', async (t) => {
  const serving = await serveWork(t)
  const pool = serving.race.pool('vms')
  await pool.pause({ by: 'ann', reason: 'deploy' })
  const verdict = async (): Promise<string> =>
    String((await ask(serving, 'GET', '/v1/verdict')).body['sentence'])
  await until(async () => /^Held: vms is paused by ann since .* \(deploy\)/.test(await verdict()), 'a pause')
  const { body } = await ask(serving, 'GET', '/v1/meter?pool=vms')
  const [vms] = body['pools'] as {
    paused: { by: string }
    overdue: { count: number | null; unknown: string }
  }[]
  assert.deepEqual([vms?.paused.by, vms?.overdue.count, vms?.overdue.unknown], ['ann', null, 'paused by ann'])
  assert.ok(Array.isArray(body['collisions']))
  const text = String((await ask(serving, 'GET', '/metrics')).body['text'])
  assert.match(text, /\nheadrace_paused\{pool="vms"\} 1\n/)
  assert.doesNotMatch(text, /\nheadrace_overdue\{pool="vms"/)
  await pool.put('late')
  await until(async () => (await verdict()).endsWith('at least 1 due'), 'a pulse')
})

test('[I7] the stream tells the meter and the verdict at once, and again every second', async (t) => {
  const serving = await serve(t, { drainWithin: 2000 })
  const wire = await openWire(t, serving)
  wire.socket.write('GET /v1/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  await wire.receives('event: verdict\ndata: {"status":"ok"')
  await until(() => wire.received.split('event: meter').length > 2, 'a second event')
  void serving.server.close()
  await wire.receives(': the server ends this stream')
})

function listener() {
  const written: string[] = []
  let close = (): void => undefined
  const each = {
    written,
    writableNeedDrain: false,
    destroyed: false,
    write: (text: string) => (written.push(text), true),
    end: () => each,
    destroy: () => ((each.destroyed = true), each),
    once: (_name: string, call: () => void) => ((close = call), each),
    close: () => close(),
  }
  return each
}

test('[I7] it is computed once for all who listen, and never when nobody does', async () => {
  const clock = new VirtualClock()
  let computed = 0
  const broadcast = new Broadcast(clock, () => `${(computed += 1)}`)
  await clock.advance(5000)
  assert.equal(computed, 0)
  const [first, second] = [listener(), listener()]
  broadcast.add(first as never)
  broadcast.add(second as never)
  await clock.advance(3000)
  assert.deepEqual([computed, first.written.at(-1), second.written.at(-1)], [5, '5', '5'])
  first.close()
  second.close()
  await clock.advance(5000)
  assert.equal(computed, 5)
})

test('[I7] who reads too slowly misses some, and is cut off when that lasts', async () => {
  const clock = new VirtualClock()
  const broadcast = new Broadcast(clock, () => 'now')
  const [slow, quick] = [listener(), listener()]
  broadcast.add(slow as never)
  broadcast.add(quick as never)
  slow.writableNeedDrain = true
  await clock.advance(20_000)
  assert.deepEqual([slow.written.length, slow.destroyed, quick.written.length], [1, false, 21])
  await clock.advance(15_000)
  assert.equal(slow.destroyed, true)
})
