// Spans of the life of keys, made with the real SDK of OpenTelemetry and kept in memory.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import * as api from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { type Headrace, headrace } from '../../../src/headrace.ts'
import { type TraceOptions, type Tracing, lifeIds, traceWork } from '../../../src/otel/otel.ts'
import { isSampled } from '../../../src/otel/trace-id.ts'
import { again } from '../../../src/pool/answer.ts'
import { until } from '../server/serving.ts'

interface OpenTracing {
  race: Headrace
  tracing: Tracing
  spans(): ReadableSpan[]
}

async function open(t: TestContext, options: TraceOptions = {}): Promise<OpenTracing> {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const race = await headrace({ store: 'memory:', partitions: 1, drainWithin: 0, log: 'silent' })
  const ours = { ...api, trace: { ...bound(), getTracer: (name: string) => provider.getTracer(name) } }
  const tracing = traceWork(race, ours, options)
  t.after(async () => {
    tracing.stop()
    await race.stop()
  })
  await race.start()
  return { race, tracing, spans: () => exporter.getFinishedSpans() }
}

/** The span of a caller, as a context manager would have it. */
const active = new AsyncLocalStorage<api.Span>()

/** The real functions; a provider is not registered for the whole process, which runs other tests. */
function bound(): Pick<typeof api.trace, 'setSpanContext' | 'getActiveSpan'> {
  return { setSpanContext: api.trace.setSpanContext.bind(api.trace), getActiveSpan: () => active.getStore() }
}

const stepsOf = (spans: ReadableSpan[]): string[] => spans.map(({ name }) => name.replace('headrace ', ''))

test('[I11] the life of a key is one trace: put, taken, run, settled, each within the one before', async (t) => {
  const { race, spans } = await open(t)
  const pool = race.pool('vms')
  await pool.put('vm-1')
  race.work(pool, () => undefined)
  await until(() => spans().length === 4, 'four spans')
  assert.deepEqual(stepsOf(spans()), ['put', 'taken', 'run', 'settled'])
  const ids = lifeIds({ pool: 'vms', key: 'vm-1', slot: null })
  assert.deepEqual(new Set(spans().map((span) => span.spanContext().traceId)), new Set([ids.traceId]))
  const [put, taken, run, settled] = spans()
  assert.deepEqual(
    [put, taken, run, settled].map((span) => span?.parentSpanContext?.spanId),
    [ids.spanId, ids.spanId, taken?.spanContext().spanId, run?.spanContext().spanId],
  )
  assert.equal(run?.attributes['headrace.outcome'], 'done')
  assert.equal(settled?.attributes['headrace.settle.result'], 'settled')
})

test('[I11] a put in one process and a run in another are in the same trace, also after a retry', async (t) => {
  const [putting, working] = [await open(t), await open(t)]
  await putting.race.pool('vms').put('vm-1')
  const pool = working.race.pool('vms')
  let attempts = 0
  working.race.work(
    pool,
    () => {
      attempts += 1
      if (attempts === 1) throw new Error('not yet')
    },
    { retry: { first: '1ms' } },
  )
  await pool.put('vm-1')
  await until(() => working.spans().length === 7, 'seven spans')
  const all = [...putting.spans(), ...working.spans()]
  assert.equal(new Set(all.map((span) => span.spanContext().traceId)).size, 1)
  const [failed] = working.spans().filter(({ name }) => name === 'headrace run')
  assert.equal(failed?.status.code, api.SpanStatusCode.ERROR)
  assert.equal(failed?.events[0]?.attributes?.['exception.message'], 'not yet')
})

test('[I11] with a trace for each run, a run that asks to run again has another, linked to that of its key', async (t) => {
  const { race, spans } = await open(t, { per: 'run' })
  const pool = race.pool('vms')
  let runs = 0
  race.work(pool, () => ((runs += 1), runs === 1 ? again('1ms') : undefined))
  await pool.put('vm-1')
  await until(() => spans().length === 7, 'seven spans')
  const taken = spans().filter(({ name }) => name === 'headrace taken')
  assert.equal(new Set(taken.map((span) => span.spanContext().traceId)).size, 2)
  const { traceId } = lifeIds({ pool: 'vms', key: 'vm-1', slot: null })
  assert.deepEqual(
    taken.map(({ links }) => links[0]?.context.traceId),
    [traceId, traceId],
  )
})

test('[I11] every process keeps the same share of traces', async (t) => {
  const kept = Array.from({ length: 1000 }, (_, nth) => lifeIds({ pool: 'p', key: `k${nth}`, slot: null }))
  const quarter = kept.filter(({ traceId }) => isSampled(traceId, 0.25)).length
  assert.ok(quarter > 200 && quarter < 300, `${quarter} of 1000`)
  const { race, spans } = await open(t, { share: 0 })
  const pool = race.pool('vms')
  let ended = 0
  race.work(pool, () => void (ended += 1))
  await pool.put('vm-1')
  await until(() => ended === 1, 'a run')
  assert.deepEqual(spans(), [])
})

/** As the SDK for Node brings one. */
function useContexts(): void {
  const contexts = new AsyncLocalStorage<api.Context>()
  const manager: api.ContextManager = {
    active: () => contexts.getStore() ?? api.ROOT_CONTEXT,
    with: (context, call, self, ...args) => contexts.run(context, () => call.call(self as never, ...args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  api.context.setGlobalContextManager(manager)
}

test('[I11] what a wrapped handler traces by itself stands within its run', async (t) => {
  useContexts()
  const { race, tracing, spans } = await open(t)
  const pool = race.pool('vms')
  const within: (string | undefined)[] = []
  const look = async (): Promise<void> => {
    await Promise.resolve()
    within.push(api.trace.getSpanContext(api.context.active())?.spanId)
  }
  race.work(pool, tracing.handler(look))
  await pool.put('vm-1')
  await until(() => spans().length === 4, 'four spans')
  const run = spans().find(({ name }) => name === 'headrace run')
  assert.deepEqual(within, [run?.spanContext().spanId])
})

test('[I12] the spans of a put and its run are linked to the active span of the caller, or to the named one', async (t) => {
  const { race, spans } = await open(t)
  const pool = race.pool('vms')
  const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 }
  await active.run(api.trace.wrapSpanContext(caller), () => pool.put('vm-1'))
  const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`
  await pool.put('vm-1', { trace: { traceparent } })
  race.work(pool, () => undefined)
  await until(() => spans().length === 5, 'five spans')
  const linked = spans().map(({ name, links }) => [
    name,
    links.map(({ context }) => context.spanId[0]).join(''),
  ])
  assert.deepEqual(linked, [
    ['headrace put', 'b'],
    ['headrace put', 'd'],
    ['headrace taken', ''],
    ['headrace run', 'bd'],
    ['headrace settled', ''],
  ])
  await pool.put('vm-1')
  await until(() => spans().length === 9, 'nine spans')
  assert.deepEqual(
    spans()
      .slice(5)
      .flatMap(({ links }) => links),
    [],
  )
})

test('[I12] a trace context that cannot be read is refused', async (t) => {
  const { race } = await open(t)
  for (const traceparent of [
    '',
    'soon',
    `00-${'0'.repeat(32)}-${'d'.repeat(16)}-01`,
    3 as unknown as string,
  ]) {
    await assert.rejects(race.pool('vms').put('a', { trace: { traceparent } }), { code: 'invalid_input' })
  }
})
