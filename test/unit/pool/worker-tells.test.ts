// What a worker tells: handlers of their runs, and listeners of what became of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headrace } from '../../../src/headrace.ts'
import { again, cancel, dead, done, retry } from '../../../src/pool/answer.ts'
import type { Handler, Run } from '../../../src/pool/run.ts'
import { START } from '../../../src/testing/virtual-clock.ts'
import { openRace } from '../open-race.ts'
import { openWorker } from './open-worker.ts'

const ends: Record<string, Handler> = {
  done: () => done(),
  nothing: () => undefined,
  again: () => again('1h'),
  retry: () => retry('1h'),
  throws: () => {
    throw new Error('no')
  },
  dead: () => dead('for good'),
  cancel: () => cancel(),
}

test('[X22] how runs ended is counted apart, and each failure is told, answered or thrown', async () => {
  const { clock, pool, worker, telemetry } = await openWorker((run, ctx) => ends[run.key]?.(run, ctx))
  const failed: unknown[] = []
  const settled: unknown[] = []
  telemetry.on('run.failed', ({ key, error, isDead }) => failed.push([key, error === null, isDead]))
  telemetry.on('work.settled', ({ settled: count, ends: how }) => settled.push([count, how]))
  await pool.putAll(Object.keys(ends).map((key) => ({ key })))
  await clock.advance(100)
  assert.deepEqual(failed, [
    ['dead', true, true],
    ['retry', true, false],
    ['throws', false, false],
  ])
  assert.deepEqual(settled, [[7, { done: 2, again: 1, retried: 2, dead: 1, cancelled: 1 }]])
  await worker.service.stop()
})

test('[X22] a settle that found no turn counts as gone alone', async () => {
  const { clock, pool, worker, telemetry } = await openWorker(async ({ key }) => {
    await pool.cancel(key)
  })
  const settled: unknown[] = []
  telemetry.on('work.settled', ({ gone, ends: how }) => settled.push([gone, how.done]))
  await pool.put('a')
  await clock.advance(100)
  assert.deepEqual(settled, [[1, 0]])
  await worker.service.stop()
})

test('[X22] a run is plain data, which a spread or a clone keeps whole', async () => {
  const runs: Run[] = []
  const { clock, pool, worker } = await openWorker((run) => void runs.push({ ...run }), { mode: 'each' })
  await pool.put('a', { at: START - 5, payload: { n: [1, null] } })
  await clock.advance(100)
  const whole = {
    key: 'a',
    at: new Date(START - 5),
    dueAt: new Date(START),
    payload: { n: [1, null] },
    payloads: [],
    tally: 1,
  }
  assert.deepEqual([runs, structuredClone(runs)], [[whole], [whole]])
  await worker.service.stop()
})

test('[X22] what a handler logs is told by telemetry, and on stderr while nobody listens', async (context) => {
  const write = context.mock.method(process.stderr, 'write', () => true)
  const { clock, pool, worker, telemetry } = await openWorker((_, { log }) => {
    log('two\nlines', { n: 1n })
    log('plain')
  })
  await pool.put('a"b')
  await clock.advance(100)
  const [first, second] = write.mock.calls.map((call) => String(call.arguments[0]))
  assert.match(first ?? '', /^headrace: work "a\\"b", attempt 1: two lines \(.*BigInt.*\)\n$/)
  assert.equal(second, 'headrace: work "a\\"b", attempt 1: plain\n')
  const told: unknown[] = []
  telemetry.on('run.logged', (event) => told.push(event))
  await pool.put('c')
  await clock.advance(100)
  const { member } = telemetry
  assert.deepEqual(told[1], {
    member,
    pool: 'work',
    key: 'c',
    attempt: 1,
    message: 'plain',
    details: undefined,
  })
  assert.deepEqual([told.length, write.mock.callCount()], [2, 2])
  await worker.service.stop()
})

test('[X23] work is refused by name where it could never be done', async () => {
  const [{ race }, { race: other }] = [openRace(), openRace()]
  const refused = { code: 'invalid_options' }
  assert.throws(() => race.work(other.pool('work'), () => undefined), { ...refused, message: /of another/ })
  const idle = await headrace({ store: 'memory:', join: 'no' })
  assert.throws(() => idle.work(idle.pool('work'), () => undefined), { ...refused, message: /does not join/ })
  for (const each of [race, other, idle]) await each.stop()
})
