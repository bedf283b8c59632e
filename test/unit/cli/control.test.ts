// headrace pool pause, resume and limits, on a real server: what they print for people, and with --json.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../server/serving.ts'
import { runProgram, startCli } from './run-cli.ts'

const AT = '2099-02-28T14:16:00.000Z'

type Print = (...args: string[]) => ReturnType<typeof runProgram>

function printerOf(url: string): Print {
  return (...args) => runProgram(args, { env: { HEADRACE_SERVER: url } })
}

test('pool pause and resume tell what holds, and with --json what the server answers', async (t) => {
  const print = printerOf((await serve(t)).url)
  await print('pool', 'make', 'vms')
  const flags = ['--by', 'ann', '--reason', 'provider\nis down', '--until', AT]
  const { stdout } = await print('pool', 'pause', 'vms', ...flags)
  assert.match(stdout, /^paused {2}vms {2}since 2\S+Z {2}until 2099\S+Z {2}by ann {2}provider\\nis down\n$/)
  const { since, ...paused } = JSON.parse((await print('pool', 'pause', 'vms', '--json')).stdout) as {
    since: string
  }
  assert.deepEqual([typeof since, paused], ['string', { by: null, reason: null, until: null }])
  assert.match((await print('pool', 'limits', 'vms')).stderr, /^paused {2}vms {2}since 2\S+Z\n$/)
  assert.equal((await print('pool', 'resume', 'vms')).stdout, 'resumed  vms\n')
  assert.equal((await print('pool', 'resume', 'vms')).stdout, 'was not paused  vms\n')
  const again = JSON.parse((await print('pool', 'resume', 'vms', '--json')).stdout) as unknown
  assert.deepEqual(again, { resumed: false })
})

test('pool limits shows the limits, and changes those that flags name', async (t) => {
  const print = printerOf((await serve(t)).url)
  await print('pool', 'make', 'vms')
  const limits = async (...flags: string[]): Promise<string> =>
    (await print('pool', 'limits', 'vms', ...flags)).stdout
  const shown = [
    'limits of   concurrency   rate',
    'each group            5  10/1m',
    'the pool              -  50/1s',
  ]
  assert.equal(
    await limits('--rate', '50/1s', '--group-concurrency', '5', '--group-rate', '10/m'),
    `${shown.join('\n')}\n`,
  )
  assert.equal(await limits(), `${shown.join('\n')}\n`)
  const changed = JSON.parse(await limits('--concurrency', '40', '--group-rate', 'none', '--json')) as unknown
  const rate = { count: 50, perMs: 1000 }
  assert.deepEqual(changed, { group: { concurrency: 5, rate: null }, pool: { concurrency: 40, rate } })
  assert.deepEqual(JSON.parse(await limits('--json')), changed)
  assert.match(await limits('--group-rate', '10/1s', '--group-spread'), /^each group +5 +10\/1s spread$/m)
  const none = { concurrency: null, rate: null }
  assert.deepEqual(JSON.parse(await limits('--none', '--json')), { group: none, pool: none })
})

test('exit codes of pause and limits: 4 for a pool that is not there, 2 for wrong usage', async (t) => {
  const { url } = await serve(t)
  const env = { HEADRACE_SERVER: url }
  const run = (line: string): Promise<{ code: number | null; stderr: string }> =>
    startCli(line.split(' '), { env }).exited
  assert.equal((await run('pool pause tiks')).code, 4)
  const bad = await run('pool limits ticks --rate 50')
  assert.equal(bad.code, 2)
  assert.match(bad.stderr, /write a number, a slash and a span of time, such as 50\/1s/)
  assert.equal((await run('pool limits ticks --none --rate 50/1s')).code, 2)
  const alone = await run('pool limits ticks --spread')
  assert.equal(alone.code, 2)
  assert.match(alone.stderr, /--spread needs a --rate/)
  assert.equal((await run('pool limits ticks --rate 0/1s')).code, 2)
})
