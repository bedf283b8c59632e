// The same commands on a server and on its store: they must print the same, and fail the same.
import assert from 'node:assert/strict'
import { messageOf } from '../../../src/errors.ts'
import { runProgram } from './run-cli.ts'

const AT = '2099-02-28T14:16:00.000Z'

/** Those that change nothing, or the same again. */
const SAME: string[][] = [
  ['pool', 'list'],
  ['pool', 'list', 'vms'],
  ['pool', 'list', 'vms', '--state', 'waiting', '--json'],
  ['pool', 'get', 'vms', 'k1'],
  ['pool', 'get', 'vms', 'nope'],
  ['pool', 'get', 'nope', 'k1'],
  ['pool', 'limits', 'vms'],
  ['pool', 'dead', 'vms'],
  ['pool', 'redrive', 'vms', 'k1'],
  ['pool', 'remove', 'vms', 'k1'],
  ['pool', 'cancel', 'vms', 'nope'],
  ['why', 'nope', '--pool', 'vms'],
  ['tick', 'list'],
  ['tick', 'get', 'user1'],
  ['tick', 'get', 'nope'],
  ['topic', 'list'],
  ['topic', 'read', 'ticks'],
  ['topic', 'read', 'nope'],
  ['roster', 'allotments', '--json'],
  ['roster', 'drain', 'nope'],
  ['roster', 'rebalance', '--preview'],
]

/** Each is made on the store; the server then sees what it did. */
const CONTROLS: [made: string[], seen: string[], pattern: RegExp][] = [
  [['pool', 'put', 'vms', 'k2', '--at', AT], ['pool', 'get', 'vms', 'k2'], /k2/],
  [['pool', 'cancel', 'vms', 'k2'], ['pool', 'list', 'vms'], /^(?![^]*k2)/],
  [['pool', 'pause', 'vms', '--reason', 'rest'], ['pool', 'list', '--json'], /"rest"/],
  [['pool', 'resume', 'vms'], ['pool', 'list', '--json'], /^(?![^]*"rest")/],
  [['pool', 'limits', 'vms', '--concurrency', '7'], ['pool', 'limits', 'vms'], /7/],
  [['tick', 'add', 'user2', '--at', AT], ['tick', 'get', 'user2'], /user2/],
  [
    ['tick', 'move', 'user2', '--at', AT, '--to', '2098-01-01T00:00:00Z'],
    ['tick', 'get', 'user2'],
    /2098-01-01/,
  ],
  [['tick', 'cancel', 'user2'], ['tick', 'list'], /^(?![^]*user2)/],
  [['roster', 'drain', 'served'], ['roster', '--json'], /"draining": true/],
  [['roster', 'undrain', 'served'], ['roster', '--json'], /"draining": false/],
]

async function outcomeOf(args: string[]): Promise<unknown> {
  try {
    return (await runProgram(args)).stdout
  } catch (error) {
    return { code: (error as { code?: string }).code, message: messageOf(error) }
  }
}

/** A server called `served` on this store is at `server`. */
export async function assertSameOnStore(server: string, store: string): Promise<void> {
  const on = { server: ['--server', server], store: ['--store', store] }
  await runProgram(['pool', 'make', 'vms', ...on.store])
  await runProgram(['pool', 'put', 'vms', 'k1', '--at', AT, '--payload', '{"n":1}', ...on.store])
  await runProgram(['tick', 'add', 'user1', '--at', AT, ...on.store])
  for (const args of SAME) {
    const [served, stored] = [
      await outcomeOf([...args, ...on.server]),
      await outcomeOf([...args, ...on.store]),
    ]
    assert.deepEqual(stored, served, args.join(' '))
  }
  for (const [made, seen, pattern] of CONTROLS) {
    await runProgram([...made, ...on.store])
    assert.match((await runProgram([...seen, ...on.server])).stdout, pattern, made.join(' '))
  }
  const { stdout: why } = await runProgram(['why', 'k1', '--pool', 'vms', ...on.store])
  assert.match(why, /k1/)
  assert.match(
    (await runProgram(['status', ...on.store])).stdout,
    /it has not joined, and only takes requests/,
  )
  const { members } = JSON.parse((await runProgram(['roster', '--json', ...on.store])).stdout) as {
    members: unknown[]
  }
  assert.equal(members.length, 1, 'no command joins the roster')
}
