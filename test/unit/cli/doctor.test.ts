import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { clockFinding } from '../../../src/cli/findings.ts'
import type { Diagnosis } from '../../../src/cli/doctor.ts'
import { openServer } from '../client/open-server.ts'
import { runProgram, startCli } from './run-cli.ts'

const clocks: [sentAt: number, answeredAt: number, now: number, ok: boolean, detail: RegExp][] = [
  [1000, 1000, 1000, true, /0 ms ahead of this one \(± 0 ms\)$/],
  [1000, 1010, 2005, true, /1000 ms ahead/],
  [1000, 1000, 2001, false, /1001 ms ahead/],
  [9000, 9000, 7000, false, /2000 ms behind/],
  // A slow answer says less: the clock may have been read at its beginning or its end.
  [1000, 2000, 3001, false, /1501 ms ahead of this one \(± 500 ms\)$/],
  [1000, 2000, 3000, true, /1500 ms ahead/],
]

for (const [sentAt, answeredAt, now, ok, detail] of clocks) {
  test(`a store's clock of ${now} between ${sentAt} and ${answeredAt} is ${ok ? 'well' : 'far off'}`, () => {
    const finding = clockFinding({ sentAt, answeredAt, now })
    assert.deepEqual([finding.ok, finding.remedy === null], [ok, ok], finding.detail)
    assert.match(finding.detail, detail)
  })
}

test('doctor finds nothing wrong with a server that is well', async () => {
  await using server = await openServer({ name: 'm1' })
  const { stdout } = await runProgram(['doctor', '--server', server.url])
  assert.match(stdout, /^✔ reachable {4}http/)
  assert.match(stdout, /\n✔ leader {7}m1 leads in term 1\n/)
  assert.match(stdout, /\n\nnothing is wrong with http\S+\n$/)
  assert.doesNotMatch(stdout, /✖/)
})

test('doctor looks at a store itself: reachable, clock, write, its own findings, the roster', async () => {
  const { stdout } = await runProgram(['doctor', '--store', 'memory:', '--json'])
  const { of, ok, findings } = JSON.parse(stdout) as Diagnosis
  assert.deepEqual([of, ok], ['memory:', true])
  assert.deepEqual(
    findings.slice(0, 5).map(({ check }) => check),
    ['reachable', 'clock', 'write', 'durability', 'leader'],
  )
})

test('a fault is told with its remedy, and exit code 8', async () => {
  const url = 'http://127.0.0.1:9'
  const { code, stdout, stderr } = await startCli(['doctor', '--server', url]).exited
  assert.deepEqual([code, stderr], [8, ''])
  assert.match(stdout, /^✖ reachable {2}cannot reach .*\n +try start one .*\n\n1 of 1 checks failed: http/)
  const json = await startCli(['doctor', '--json', '--server', url]).exited
  assert.deepEqual([json.code, (JSON.parse(json.stdout) as Diagnosis).ok], [8, false])
})

test('a clock that is far off is a fault of its own', async () => {
  const answer = { now: '2020-01-01T00:00:00.000Z', version: '0.1.0', store: 'memory:', findings: [] }
  const server = createServer((_request, response) => void response.end(JSON.stringify(answer)))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stdout } = await startCli(['doctor', '--server', url]).exited
  assert.equal(code, 8)
  assert.match(stdout, /\n✖ clock .* behind this one .*\n +try let NTP /)
  server.closeAllConnections()
  server.close()
})

test('a server and a store cannot both be asked for, and a wrong address or token is no finding', async () => {
  await using server = await openServer({ token: 'a-secret-of-16-chars' })
  const codes = [
    ['--server', server.url, '--store', 'memory:'],
    ['--store', 'nosql:x'],
    ['--server', server.url],
  ].map(async (args) => (await startCli(['doctor', ...args]).exited).code)
  assert.deepEqual(await Promise.all(codes), [2, 2, 6])
})

test('a server whose store went back, is full or was replaced is a finding, and not a failure of the command', async (t) => {
  const codes = ['store_went_back', 'store_full', 'store_replaced', 'store_busy']
  const server = createServer((_request, response) => {
    const problem = { code: codes[0], title: 'x', detail: 'd', remedy: 'r', status: 503, retryable: true }
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (; codes.length > 0; codes.shift()) {
    const { code, stdout } = await startCli(['doctor', '--server', url]).exited
    assert.deepEqual([code, stdout.slice(0, 11)], [8, '✖ reachable'], codes[0])
  }
})
