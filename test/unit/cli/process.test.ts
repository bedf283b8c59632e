import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createClient } from '../../../src/client/client.ts'
import { until } from '../../fault/until.ts'
import { openServer } from '../client/open-server.ts'
import { startCli } from './run-cli.ts'

const AT = '2099-02-28T14:16:00Z'

async function exitCode(line: string, env: Record<string, string> = {}): Promise<number | null> {
  return (
    await startCli(
      line.split(' ').filter((word) => word !== ''),
      { env },
    ).exited
  ).code
}

describe('exit codes', { concurrency: 2 }, () => {
  test('0 when done, for help and for the version', async () => {
    assert.equal(await exitCode(''), 0)
    assert.equal(await exitCode('--version'), 0)
    assert.equal(await exitCode('tick add --help'), 0)
  })

  test('2 for wrong usage, found here or by the server', async () => {
    await using server = await openServer()
    assert.equal(await exitCode('tik'), 2)
    assert.equal(await exitCode('tick'), 2)
    assert.equal(await exitCode('tick list --limit x'), 2)
    assert.equal(await exitCode('tick add a --on-conflict keep', { HEADRACE_SERVER: server.url }), 2)
  })

  test('3 when the server cannot be reached, with a problem document under --json', async () => {
    const { code, stdout, stderr } = await startCli(['status', '--json', '--server', 'http://127.0.0.1:1'])
      .exited
    assert.equal(code, 3)
    assert.equal(stdout, '')
    assert.equal((JSON.parse(stderr) as { code: string }).code, 'server_unreachable')
  })

  test('4 for what is not there, 5 for a conflict', async () => {
    await using server = await openServer({ ticksMode: 'one' })
    const env = { HEADRACE_SERVER: server.url }
    assert.equal(await exitCode('tick get nope', env), 4)
    assert.equal(await exitCode('topic read nope', env), 4)
    assert.equal(await exitCode(`tick add a --at ${AT} --on-conflict reject`, env), 0)
    assert.equal(await exitCode(`tick add a --at ${AT} --on-conflict reject`, env), 5)
  })

  test('6 without a token, 0 with one from the environment or a file', async () => {
    await using server = await openServer({ token: 'a-secret-of-16-chars' })
    const env = { HEADRACE_SERVER: server.url }
    assert.equal(await exitCode('status', env), 6)
    assert.equal(await exitCode('status', { ...env, HEADRACE_TOKEN: 'a-secret-of-16-chars' }), 0)
    const folder = await mkdtemp(join(tmpdir(), 'headrace-'))
    await writeFile(join(folder, 'token'), 'a-secret-of-16-chars\n')
    assert.equal(await exitCode(`status --token-file ${join(folder, 'token')}`, env), 0)
    await rm(folder, { recursive: true })
  })

  test('8 when a threshold is missed', async () => {
    await using server = await openServer()
    const load = 'generate --duration 300ms --connections 1 --rate 10 --at-least 1000'
    assert.equal(await exitCode(load, { HEADRACE_SERVER: server.url }), 8)
  })

  test('130 when interrupted, after the summary', async () => {
    await using server = await openServer()
    const load = startCli(['generate', '--connections', '1', '--rate', '50', '--server', server.url])
    await load.saw('generated')
    load.kill('SIGINT')
    const { code, stdout } = await load.exited
    assert.equal(code, 130)
    assert.match(stdout, /\nby status {2}202 × /)
  })
})

test('143 when terminated', async () => {
  await using server = await openServer()
  const follow = startCli(['topic', 'read', 'ticks', '--follow', '--from', 'oldest', '--server', server.url])
  await createClient({ server: server.url }).ticks.add({ item: 'a', at: '2020-01-01T00:00:00Z' })
  await follow.saw('"item":"a"')
  follow.kill('SIGTERM')
  assert.equal((await follow.exited).code, 143)
})

test('serve says where it is, answers, and drains on SIGTERM with exit code 0', async () => {
  const server = startCli(['serve', '--store', 'memory:', '--port', '0', '--json'])
  await server.saw('ready in')
  const { url } = JSON.parse(server.printed.stdout) as { url: string }
  assert.deepEqual(await (await fetch(`${url}/healthy`)).json(), { status: 'ok' })
  await createClient({ server: url }).ticks.add({ item: 'a', at: AT })
  server.kill('SIGTERM')
  const { code, stderr } = await server.exited
  assert.equal(code, 0)
  assert.match(stderr, /draining for at most 30s[^\n]*\nstopped\n$/)
})

test('serve names its member, and says whether it joined', async () => {
  for (const [flags, joined, words] of [
    ['--name m1', true, 'm1 (joined the roster)'],
    ['--name m2 --join no', false, 'm2 (takes requests only: --join no)'],
  ] as const) {
    const server = startCli(['serve', '--store', 'memory:', '--port', '0', '--json', ...flags.split(' ')])
    await server.saw('ready in')
    await server.saw(words)
    const told = JSON.parse(server.printed.stdout) as { name: string; joined: boolean }
    assert.deepEqual([told.name, told.joined], [words.slice(0, 2), joined])
    server.kill('SIGTERM')
    await server.exited
  }
})

test('a second signal ends serve at once with 130', async () => {
  const server = startCli(['serve', '--store', 'memory:', '--port', '0', '--json'])
  await server.saw('ready in')
  const { url } = JSON.parse(server.printed.stdout) as { url: string }
  // A request whose body never comes keeps the server from ending.
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
  })
  const slow = fetch(`${url}/ticks`, { method: 'POST', body, duplex: 'half' }).catch(() => null)
  await createClient({ server: url }).status()
  server.kill('SIGINT')
  await server.saw('draining')
  server.kill('SIGINT')
  assert.equal((await server.exited).code, 130)
  await slow
})

test('a port that is taken is told in four lines, with exit code 5', async () => {
  await using other = await openServer()
  const { code, stderr } = await startCli(['serve', '--store', 'memory:', '--port', String(other.port)])
    .exited
  assert.equal(code, 5)
  assert.match(
    stderr,
    /^error\[address_in_use\] .*\n {2}what .*EADDRINUSE.*\n {2}why .*\n {2}try .*--port.*\n$/,
  )
})

test('a reader that has seen enough ends a command quietly', async () => {
  await using server = await openServer()
  const client = createClient({ server: server.url })
  const follow = startCli(['topic', 'read', 'ticks', '--follow', '--from', 'oldest', '--server', server.url])
  await client.ticks.add({ item: 'a', at: '2020-01-01T00:00:00Z' })
  await follow.saw('"item":"a"')
  follow.closeStdout()
  await client.ticks.add({ item: 'b', at: '2020-01-01T00:00:00Z' })
  const { code, stderr } = await follow.exited
  assert.deepEqual([code, stderr], [0, ''])
})

test('serve outlives the readers of its streams, and drains as ever', async () => {
  const server = startCli(['serve', '--store', 'memory:', '--port', '0', '--json'])
  await server.saw('ready in')
  const { url } = JSON.parse(server.printed.stdout) as { url: string }
  server.closeStdout()
  server.closeStderr()
  const body = new TransformStream<Uint8Array, Uint8Array>()
  const writer = body.writable.getWriter()
  const text = new TextEncoder()
  const posted = fetch(`${url}/ticks`, { method: 'POST', body: body.readable, duplex: 'half' })
  await writer.write(text.encode('{"item":"a",'))
  await createClient({ server: url }).status()
  // It says that it drains, to nobody.
  server.kill('SIGTERM')
  await until('it listens no more', async () => !(await isListening(url)), 10_000)
  await writer.write(text.encode(`"at":"${AT}"}`))
  await writer.close()
  assert.equal((await posted).status, 202)
  assert.equal((await server.exited).code, 0)
})

/** Whether a server takes new connections. */
function isListening(url: string): Promise<boolean> {
  return fetch(`${url}/livez`, { headers: { connection: 'close' } }).then(
    async (answer) => (await answer.text()) !== '',
    () => false,
  )
}

test('the default store gets its folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-'))
  const server = startCli(['serve', '--port', '0'], { cwd: folder })
  await server.saw('ready in')
  assert.ok(existsSync(join(folder, '.headrace', 'headrace.db')))
  server.kill('SIGTERM')
  await server.exited
  await rm(folder, { recursive: true })
})
