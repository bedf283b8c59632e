import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RosterView } from '../../../src/client/client.ts'
import { createOutput } from '../../../src/cli/output.ts'
import { formatRoster } from '../../../src/cli/roster-text.ts'
import { ownAddress } from '../../../src/server/own-address.ts'
import { systemClock } from '../../../src/clock.ts'
import { openServer } from '../client/open-server.ts'
import { openMembers } from '../server/members.ts'
import { runProgram } from './run-cli.ts'

test('roster shows leader, overlap, members and shares, and with --json the document', async () => {
  await using server = await openServer({ name: 'm1', address: 'http://m1:7400' })
  const args = ['roster', '--server', server.url]
  const { stdout } = await runProgram(args)
  assert.match(stdout, /^leader {3}m1 {3}term 1\nlease {4}3s\noverlap {2}0\n\n/)
  assert.match(stdout, /\nm1 +\S{22} +\d\S+ +1 +4 +\S+ +leads.* http:\/\/m1:7400\n/)
  assert.match(stdout, /\npool\/ticks +4 +0 +0 +\S+Z +m1 4\n$/)
  const document = JSON.parse((await runProgram([...args, '--json'])).stdout) as RosterView
  assert.deepEqual([document.overlap, document.members.length], [0, 1])
})

test('what is remarkable about a roster stands out', () => {
  const sink = { write: () => undefined }
  const context = { stdout: sink, stderr: sink, env: {}, clock: systemClock, startedAt: 0 }
  const output = createOutput(
    { ...context, signal: new AbortController().signal },
    { json: false, color: false },
  )
  const about = {
    address: null,
    version: '1',
    weight: 1,
    leads: true,
    leaseMs: 3000,
    joinedAt: '',
    serves: [],
    partitions: 0,
  }
  const health = { pulse: 'running', 'ticks ticks': 'failed' }
  const member = {
    ...about,
    id: 'a',
    name: 'm\u001b1',
    heartbeatAgeMs: 4000,
    silent: true,
    draining: true,
    health,
  }
  const counts = { partitions: 4, owners: [], unowned: 4, moves: 0, moving: 0, since: null }
  const resources = [{ name: 'own/x', ...counts }]
  const roster = { now: '', leaseMs: 3000, leader: null, members: [member], resources, overlap: 2 }
  const text = formatRoster(roster, output)
  assert.match(text, /^leader {3}none\n/)
  assert.match(text, /\noverlap {2}2: .* must be 0\n/)
  assert.match(text, /\nm\\u001b1 .* 4s {2}silent, drains, ticks ticks failed {2}-\n/)
  assert.match(text, /\nown\/x .* nobody 4$/)
  const empty = { ...roster, members: [], resources: [], overlap: 0 }
  assert.match(formatRoster(empty, output), /\n\nnobody has joined$/)
})

test('drain, undrain, rebalance, step-down and allotments do what they say', async (t) => {
  const { serving } = await openMembers(t, 2)
  const env = { HEADRACE_SERVER: serving.url }
  const run = async (line: string): Promise<string> => (await runProgram(line.split(' '), { env })).stdout
  assert.equal(await run('roster rebalance'), 'nothing to move: every member has its share\n')
  const preview = await run('roster rebalance --preview --without m2')
  assert.match(preview, /^resource .*\n(pool\/ticks +\d {2}m2 +m1 {2}would move\n){2}$/)
  const none = await run('roster rebalance --preview --without m1 --without m2')
  assert.match(none, /^nothing would move: /)
  assert.equal(await run('roster drain m2'), 'm2  drains: 2 of its 2 partitions go to others\n')
  assert.equal(await run('roster undrain m2'), 'm2  gets its share again\n')
  assert.equal(await run('roster step-down'), 'm1  stepped down from term 1\n')
  const lines = (await run('roster allotments --resource pool/ticks')).trim().split('\n')
  assert.deepEqual([lines.length, lines[0]?.split(/ +/)[2]], [5, 'owner'])
})

test('flags stand before or after the words of a roster command', async (t) => {
  const { serving } = await openMembers(t, 1)
  const lines = ['--json roster --server URL drain m1', 'roster drain m1 --server URL --json']
  for (const line of lines) {
    const { stdout } = await runProgram(line.replace('URL', serving.url).split(' '))
    assert.equal((JSON.parse(stdout) as { name: string }).name, 'm1')
  }
})

test('the address of a server that was told none is its own, as others can reach it', () => {
  assert.equal(ownAddress({ host: '127.0.0.1', port: 7400 }), 'http://127.0.0.1:7400')
  assert.equal(ownAddress({ host: '::1', port: 7400 }), 'http://[::1]:7400')
  assert.doesNotMatch(ownAddress({ host: '0.0.0.0', port: 7400 }), /0\.0\.0\.0/)
})
