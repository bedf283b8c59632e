import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ended } from '../../../src/cli/context.ts'
import { formatSecond } from '../../../src/cli/generate.ts'
import { createClient } from '../../../src/client/client.ts'
import type { GeneratorReport } from '../../../src/generator/generator.ts'
import { openServer } from '../client/open-server.ts'
import { runProgram } from './run-cli.ts'

const SMALL = ['--connections', '2', '--duration', '400ms', '--window', '10ms', '--ids', '1000']

test('a line tells rates, lateness and errors', () => {
  const second = {
    endMs: 1000,
    elapsedMs: 1000,
    generated: 16_073.4,
    scheduled: 15_990,
    consumed: 15_573,
    latenessP50Ms: 3,
    latenessP99Ms: 12,
    errors: 0,
  }
  assert.equal(
    formatSecond(second),
    'generated  16073/s  scheduled  15990/s  consumed  15573/s  lateness p50 3 ms p99 12 ms  errors 0',
  )
  assert.match(formatSecond({ ...second, latenessP50Ms: null, latenessP99Ms: null }), /p50 – p99 –/)
})

test('a load of a real server is scheduled and consumed, with a line a second and a summary', async () => {
  await using server = await openServer()
  const { stdout } = await runProgram(['generate', ...SMALL, '--rate', '200', '--server', server.url])
  assert.match(stdout, /^generated +\d+\/s {2}scheduled +\d+\/s {2}consumed +\d+\/s {2}lateness p50 \d+ ms/)
  assert.match(stdout, /\nscheduled +\d\d +\d+ +\d+\n/)
  assert.match(stdout, /\nby status {2}202 × \d\d\n/)
})

test('with --json stdout is one document, and the lines are talk', async () => {
  await using server = await openServer()
  const args = ['generate', ...SMALL, '--rate', '200', '--json', '--server', server.url]
  const { stdout, stderr } = await runProgram(args)
  const report = JSON.parse(stdout) as GeneratorReport
  assert.equal(report.totals.scheduled, report.totals.generated)
  assert.ok(report.totals.consumed > 0)
  assert.equal(report.totals.early, 0)
  assert.match(stderr, /^generated /)
})

test('only events of its own run are counted as consumed', async () => {
  await using server = await openServer()
  const stranger = createClient({ server: server.url })
  const at = new Date(Date.now() + 200).toISOString()
  await stranger.ticks.addAll(Array.from({ length: 500 }, (_, index) => ({ item: `item-${index}`, at })))
  const args = ['generate', ...SMALL, '--rate', '50', '--json', '--server', server.url]
  const { totals } = JSON.parse((await runProgram(args)).stdout) as GeneratorReport
  assert.ok(totals.consumed > 0 && totals.consumed <= totals.generated, JSON.stringify(totals))
})

test('a rate that is not reached misses the threshold', async () => {
  await using server = await openServer()
  const args = ['generate', ...SMALL, '--rate', '20', '--at-least', '1000', '--server', server.url]
  await assert.rejects(runProgram(args), (error: unknown) => {
    assert.ok(error instanceof Ended)
    return error.how === 'threshold missed'
  })
})

test('a server that accepts nothing is an error that names the answers', async () => {
  await using server = await openServer()
  const args = ['generate', ...SMALL, '--items-prefix', 'x'.repeat(600), '--server', server.url]
  await assert.rejects(runProgram(args), { code: 'server_refused', message: /was accepted: 400$/ })
})
