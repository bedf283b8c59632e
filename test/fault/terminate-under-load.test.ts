// A server that is asked to stop answers what it has read, closes what it has not, and ends by itself.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { describeFindings } from './check-ticks.ts'
import { ServerProcess } from './server-process.ts'
import { readStore } from './store-file.ts'
import { terminateUnderLoad, unansweredOf } from './terminate-under-load.ts'
import { until } from './until.ts'
import { Witness } from './witness.ts'

/** The default of --drain-within. */
const DRAIN_WITHIN_MS = 30_000

test('SIGTERM under load cuts no request, loses no tick, and ends with code 0 within the drain limit', async () => {
  const { findings, ends, cut, seed } = await terminateUnderLoad(3)
  assert.equal(describeFindings(findings), '', `seed ${seed}`)
  assert.deepEqual(cut, [])
  for (const { code, tookMs } of ends) {
    assert.equal(code, 0)
    assert.ok(tookMs < DRAIN_WITHIN_MS, `${tookMs} ms`)
  }
})

test('a request without an answer is cut, unless it came when silent connections were being closed', () => {
  const open = { at: 0, outcome: 'info', status: null, code: null } as const
  const posts = [
    { ...open, item: 'before', sentAt: 900, answeredAt: null },
    { ...open, item: 'in-time', sentAt: 1299, answeredAt: null },
    { ...open, item: 'too-late', sentAt: 1300, answeredAt: null },
    { ...open, item: 'answered', sentAt: 1299, answeredAt: 1301 },
  ]
  const { cut, late } = unansweredOf(posts, 1000)
  assert.deepEqual([cut.map((name) => name.split('/')[0]), late], [['before', 'in-time'], 1])
})

test('SIGTERM during a stream of lines answers every line it has read and names the first it has not', async () => {
  await using witness = await Witness.create()
  await using server = await ServerProcess.start({ file: witness.file })
  const stream = request(`${server.url}/ticks`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  })
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const line = (index: number): string => `${JSON.stringify({ item: `line-${index}`, at })}\n`
  let answers = ''
  stream.on('response', (response) => response.on('data', (data: Buffer) => (answers += data.toString())))
  stream.on('error', () => undefined)
  stream.write(line(1) + line(2) + line(3))
  const lines = (): string[] => answers.split('\n').filter((text) => text !== '')
  await until('three lines are answered', () => lines().length === 3, 10_000)
  stream.write('{"item":"half a line')
  const { code } = await server.terminate()
  assert.equal(code, 0)
  const last = JSON.parse(lines()[3] ?? '{}') as { line: number; error: { code: string } }
  assert.equal(lines().length, 4)
  assert.equal(last.line, 4)
  assert.equal(last.error.code, 'not_running')
  assert.equal(readStore(witness.file).waiting.size, 3)
})
