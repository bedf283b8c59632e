import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { openServer } from '../client/open-server.ts'
import { runProgram, startCli } from './run-cli.ts'

const AT = '2099-02-28T14:16:00.000Z'
const PAST = '2020-01-01T00:00:00.000Z'

test('tick add prints what happened, and with --json the answer', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const { stdout } = await runProgram(['tick', 'add', 'a', '--at', AT, '--payload', '{"n":1}'], { env })
  assert.equal(stdout, `created  a  ${AT}\n`)
  const again = await runProgram(['--json', 'tick', 'add', 'a', '--at', AT], { env })
  assert.deepEqual(JSON.parse(again.stdout), { item: 'a', at: AT, result: 'kept' })
})

test('tick add --in counts from now', async () => {
  await using server = await openServer()
  const before = Date.now()
  const { stdout } = await runProgram(['tick', 'add', 'a', '--in', '10m', '--json', '--server', server.url])
  const at = Date.parse((JSON.parse(stdout) as { at: string }).at)
  assert.ok(at >= before + 600_000 && at <= Date.now() + 600_000)
})

test('tick list prints a table, and says on stderr where the next page is', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const { ticks } = createClient({ server: server.url })
  await ticks.addAll(['alpha', 'b'].map((item) => ({ item, at: AT, payload: { item } })))
  const { stdout, stderr } = await runProgram(['tick', 'list', '--limit', '1'], { env })
  const [head, row] = stdout.split('\n')
  assert.match(head ?? '', /^item +at +due at +state +tally +partition +payload$/)
  assert.match(row ?? '', /^alpha +2099\S+ +2099\S+ +waiting +1 +\d+ +\{"item":"alpha"\}$/)
  const after = /--after (\S+)/.exec(stderr)?.[1] ?? ''
  const second = await runProgram(['tick', 'list', '--after', after, '--json'], { env })
  const page = JSON.parse(second.stdout) as { items: { item: string }[]; next: null }
  assert.deepEqual([page.items.map(({ item }) => item), page.next], [['b'], null])
})

test('tick get, move and cancel act on one tick or on all of an item', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const run = async (line: string): Promise<string> => (await runProgram(line.split(' '), { env })).stdout
  await run(`tick add a --at ${AT}`)
  assert.match(await run(`tick get a --at ${AT}`), /\na +2099-02-28/)
  assert.equal(
    await run(`tick move a --at ${AT} --to 2099-03-01T00:00:00Z`),
    'created  a  2099-03-01T00:00:00.000Z\n',
  )
  assert.match(await run('tick get a'), /\na +2099-03-01/)
  assert.equal(await run('tick cancel a'), 'cancelled  a  1\n')
})

test('[C2] tick move onto another tick of the item is a conflict, exit code 5', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const to = '2099-03-01T00:00:00.000Z'
  await createClient({ server: server.url }).ticks.addAll([AT, to].map((at) => ({ item: 'a', at })))
  const { code, stderr } = await startCli(['tick', 'move', 'a', '--at', AT, '--to', to], { env }).exited
  assert.equal(code, 5)
  assert.match(
    stderr,
    /^error\[tick_exists\] {2}the item "a" has a tick at 2099-03-01T00:00:00.000Z already\n/,
  )
  assert.match(stderr, /try +nothing was changed: choose another time, or cancel one of the two ticks\n$/)
})

test('tick get reads the ticks of an item page by page', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const { ticks } = createClient({ server: server.url })
  await ticks.addAll([AT, '2099-03-01T00:00:00.000Z'].map((at) => ({ item: 'a', at })))
  const { stdout, stderr } = await runProgram(['tick', 'get', 'a', '--limit', '1'], { env })
  assert.match(stdout, /\na +2099-02-28[^\n]*\n$/)
  const after = /--after (\S+)/.exec(stderr)?.[1] ?? ''
  const second = await runProgram(['tick', 'get', 'a', '--after', after], { env })
  assert.match(second.stdout, /\na +2099-03-01[^\n]*\n$/)
})

test('what a stranger put into an item or payload cannot steer a terminal', async () => {
  await using server = await openServer()
  const env = { HEADRACE_SERVER: server.url }
  const evil = 'a\u001b]0;owned\u0007\u009b2J\u007f'
  const run = async (...args: string[]): Promise<string> => (await runProgram(args, { env })).stdout
  const payload = JSON.stringify({ evil })
  const printed = [
    await run('tick', 'add', evil, '--at', AT, '--payload', payload),
    await run('tick', 'list'),
    await run('tick', 'cancel', evil),
    await run('tick', 'add', evil, '--at', PAST, '--payload', payload),
    await run('topic', 'read', 'ticks', '--follow', '--from', 'oldest', '--limit', '1'),
    await run('topic', 'read', 'ticks'),
  ]
  for (const text of printed) {
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
    assert.match(text, /a\\u001b\]0;owned\\u0007\\u009b2J\\u007f/)
  }
})

test('a topic is read over all partitions in the order of time, a line an event', async () => {
  await using server = await openServer()
  const client = createClient({ server: server.url })
  const items = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const item of items) await client.ticks.add({ item, at: PAST })
  const args = ['topic', 'read', 'ticks', '--server', server.url]
  const followed = client.topics.follow('ticks', { from: 'oldest' })
  for (const _ of items) await followed.next()
  await followed.return()
  const lines = (await runProgram([...args, '--json'])).stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as { key: string; time: string })
  assert.deepEqual(events.map(({ key }) => key).toSorted(), items)
  assert.deepEqual(
    events.map(({ time }) => time),
    events.map(({ time }) => time).toSorted(),
  )
  const { stdout, stderr } = await runProgram([...args, '--limit', '2'])
  assert.match(stdout, /^(\S+Z {2}\d\/\d +[a-f] {2}\{"item":"[a-f]","at":"2020.*\}\n){2}$/)
  assert.match(stderr, /^the first 2; more: /)
})

test('--follow prints events as they come, and --limit ends it', async () => {
  await using server = await openServer()
  await createClient({ server: server.url }).ticks.addAll(['a', 'b'].map((item) => ({ item, at: PAST })))
  const args = ['topic', 'read', 'ticks', '--follow', '--from', 'oldest', '--limit', '2', '--json']
  const { stdout } = await runProgram([...args, '--server', server.url])
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { key: string }).key)
      .toSorted(),
    ['a', 'b'],
  )
})

test('counts are grouped on a terminal and raw in a pipe, and only a terminal is coloured', async () => {
  await using server = await openServer({ retention: '90m' })
  const args = ['topic', 'list', '--server', server.url]
  const pipe = await runProgram(args)
  assert.equal(pipe.stdout, 'topic  partitions  events  retention\nticks           4       0      1h30m\n')
  const terminal = await runProgram(args, { isTTY: true })
  assert.ok(terminal.stdout.startsWith('\u001B[2mtopic'), JSON.stringify(terminal.stdout))
  const plain = await runProgram(args, { isTTY: true, env: { NO_COLOR: '1' } })
  assert.equal(plain.stdout, pipe.stdout)
})

test('status shows share, services, ticks and topics, and with --json the document', async () => {
  await using server = await openServer({ name: 'm1' })
  const args = ['status', '--server', server.url]
  const { stdout } = await runProgram(args)
  assert.match(
    stdout,
    /\nmember {4}m1 {3}\S{22}\nleader {4}m1, this member {3}term 1\nshare {5}pool\/ticks 4 of 4\n/,
  )
  assert.match(
    stdout,
    /\nservices {2}pulse running {3}roster running {3}retention running {3}ticks ticks running\n/,
  )
  assert.match(stdout, /\nticks {5}mode each {3}4 partitions {3}waiting 0/)
  const document = JSON.parse((await runProgram([...args, '--json'])).stdout) as { store: string }
  assert.equal(document.store, 'memory:')
})

test('migrate says from which to which version a store went', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-'))
  const args = ['migrate', '--store', `sqlite:${join(folder, 'a.db')}`]
  assert.match((await runProgram(args)).stdout, /a\.db went from version 0 to \d+\n$/)
  assert.match((await runProgram(args)).stdout, /a\.db is at version \d+ already\n$/)
  const { stdout } = await runProgram(['migrate', '--store', 'memory:', '--json'])
  assert.deepEqual(JSON.parse(stdout), { store: 'memory:', from: null, to: null })
  await rm(folder, { recursive: true })
})
