// The command line without a server: on a store.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { openServer } from '../client/open-server.ts'
import { assertSameOnStore } from './on-store.ts'
import { runProgram, startCli } from './run-cli.ts'

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('every command that reads or controls does the same on a SQLite store as on its server', async (t) => {
  const store = `sqlite:${await folderOf(t)}/headrace.db`
  await using server = await openServer({ store, name: 'served' })
  await assertSameOnStore(server.url, store)
})

test('a command on a store needs no server, ends by itself, and has the same exit codes', async (t) => {
  const folder = await folderOf(t)
  await writeFile(join(folder, 'store'), `sqlite:${folder}/headrace.db\n`)
  const run = async (...args: string[]): Promise<number | null> =>
    (await startCli([...args, '--store-file', join(folder, 'store')]).exited).code
  assert.equal(await run('pool', 'make', 'vms'), 0)
  assert.equal(await run('pool', 'get', 'vms', 'nope'), 4)
  assert.equal(await run('pool', 'make', 'vms', '--mode', 'each'), 5)
  assert.equal(await run('pool', 'list', '--store', 'memory:'), 2)
  assert.equal((await startCli(['pool', 'list', '--store', 'nonsense']).exited).code, 2)
})

test('a store and a server are not taken together, wherever the flags stand', async () => {
  const refused = { code: 'invalid_options', message: /a store and a server are both given/ }
  const both = ['--store', 'memory:', '--server', 'http://127.0.0.1:1']
  for (const args of [
    ['pool', 'list', ...both],
    ['doctor', ...both],
    ['status', ...both],
  ]) {
    await assert.rejects(runProgram(args), refused)
  }
  await assert.rejects(runProgram(['roster', ...both.slice(2), 'allotments', ...both.slice(0, 2)]), refused)
  const env = { HEADRACE_SERVER: 'http://127.0.0.1:1' }
  assert.match((await runProgram(['pool', 'list', '--store', 'memory:'], { env })).stdout, /no pools/)
})

test('serve --no-ticks makes no ticks, and answers /ticks where the store has them', async (t) => {
  const folder = await folderOf(t)
  const args = ['serve', '--store', `sqlite:${folder}/headrace.db`, '--port', '0', '--json', '--no-ticks']
  const server = startCli(args)
  t.after(() => server.kill('SIGKILL'))
  await server.saw('"url"')
  const { url } = JSON.parse(server.printed.stdout) as { url: string }
  const client = createClient({ server: url })
  assert.deepEqual([(await client.pools.list()).items, (await client.topics.list()).items], [[], []])
  await assert.rejects(client.ticks.list(), { code: 'pool_unknown' })
  await client.pools.make('vms', {})
  assert.doesNotMatch(server.printed.stderr, /\/ticks/)
  server.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
})
