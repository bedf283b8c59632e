import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadraceError } from '../../../src/errors.ts'
import { type GeneratorOptions, runGenerator } from '../../../src/generator/generator.ts'
import type { Second } from '../../../src/generator/tally.ts'
import { openRawServer } from './raw-server.ts'

const options = (server: string, more: Partial<GeneratorOptions> = {}): GeneratorOptions => ({
  server,
  token: null,
  ids: 100,
  itemsPrefix: 'item-',
  rate: null,
  windowMs: 60_000,
  connections: 4,
  durationMs: 200,
  follow: false,
  ...more,
})

test('the closed loop sends over a fixed number of connections, and every answer is counted', async () => {
  await using server = await openRawServer({})
  const report = await runGenerator(options(server.url))
  assert.equal(server.connections, 4)
  assert.equal(report.totals.generated, server.bodies.length)
  assert.equal(report.totals.scheduled, server.bodies.length)
  assert.ok(report.totals.generated > 8, `${report.totals.generated} requests`)
  assert.deepEqual([report.totals.errors, report.unanswered], [0, 0])
})

test('items come from the ids and due times lie within the window', async () => {
  await using server = await openRawServer({})
  const began = Date.now()
  await runGenerator(options(server.url, { ids: 3, windowMs: 1000 }))
  const bodies = server.bodies as { item: string; at: string }[]
  assert.deepEqual([...new Set(bodies.map(({ item }) => item))].toSorted(), ['item-0', 'item-1', 'item-2'])
  for (const { at } of bodies) {
    assert.ok(Date.parse(at) >= began && Date.parse(at) < Date.now() + 1000, at)
  }
})

test('the open loop keeps its rate, whatever the answers', async () => {
  await using server = await openRawServer({ answer: () => ({ delayMs: 20 }) })
  const report = await runGenerator(options(server.url, { rate: 200, durationMs: 500, connections: 50 }))
  const { generated, scheduled } = report.totals
  assert.equal(generated + report.behind, 100)
  assert.ok(generated > 50, `${generated} requests`)
  assert.equal(scheduled, generated)
})

test('an open loop sends sixteen requests behind each other, and says how far it is behind', async () => {
  await using server = await openRawServer({ answer: () => ({ delayMs: 100 }) })
  const report = await runGenerator(options(server.url, { rate: 1000, durationMs: 300, connections: 1 }))
  const { generated } = report.totals
  assert.ok(generated >= 16 && generated <= 64, `${generated} requests`)
  assert.ok(report.behind > 200, `${report.behind} behind`)
})

test('answers may come in small pieces', async () => {
  await using server = await openRawServer({ answer: () => ({ pieceBytes: 7 }) })
  const report = await runGenerator(options(server.url))
  assert.equal(report.totals.scheduled, server.bodies.length)
  assert.deepEqual(Object.keys(report.answers), ['202'])
})

test('a refused request is an error, and the load goes on', async () => {
  await using server = await openRawServer({ answer: (number) => ({ status: number <= 2 ? 503 : 202 }) })
  const report = await runGenerator(options(server.url, { durationMs: 400 }))
  assert.equal(report.answers['503'], 2)
  assert.equal(report.totals.errors, 2)
  assert.ok(report.totals.scheduled > 2)
})

test('a server in trouble is not called in a tight loop', async () => {
  await using server = await openRawServer({ answer: () => ({ status: 503 }) })
  const report = await runGenerator(options(server.url, { durationMs: 350 }))
  // Four connections that pause 100 ms after each answer.
  assert.ok(
    report.totals.generated >= 4 && report.totals.generated <= 16,
    `${report.totals.generated} requests`,
  )
})

test('a cut connection is an error, and is opened again', async () => {
  await using server = await openRawServer({ answer: (number) => ({ cut: number === 1 }) })
  const report = await runGenerator(options(server.url, { connections: 1, durationMs: 600 }))
  assert.equal(server.connections, 2)
  assert.equal(report.totals.errors, 1)
  assert.equal(report.totals.scheduled, report.totals.generated - 1)
})

test('events of the topic are consumed with their lateness', async () => {
  const event = (lateMs: number): string =>
    `data: {"partition":0,"key":"item-1","value":{"item":"item-1","at":"2027-01-01T00:00:00.000Z"},"time":"2027-01-01T00:00:00.0${lateMs}Z"}\n\n`
  await using server = await openRawServer({ events: () => [event(10), event(20), event(30)] })
  const seconds: Second[] = []
  const report = await runGenerator(options(server.url, { follow: true }), {
    onSecond: (second) => seconds.push(second),
  })
  assert.equal(report.totals.consumed, 3)
  assert.deepEqual(report.latenessMs, { p50: 20, p99: 30, max: 30 })
  assert.deepEqual(report.seconds, seconds)
})

test('a signal ends the load early, with a report', async () => {
  const stop = new AbortController()
  await using server = await openRawServer({
    answer: (number) => {
      if (number === 10) stop.abort()
      return {}
    },
  })
  const report = await runGenerator(options(server.url, { durationMs: 60_000 }), { signal: stop.signal })
  assert.ok(report.durationMs < 10_000)
  assert.ok(report.totals.generated >= 10)
})

test('an address that is no http is refused', async () => {
  await assert.rejects(runGenerator(options('https://localhost')), (error: unknown) => {
    assert.ok(error instanceof HeadraceError)
    return error.code === 'invalid_options'
  })
})
