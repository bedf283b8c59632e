// headrace pool, on a real server: what it prints for people, and with --json.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { dead } from '../../../src/pool/answer.ts'
import { serve, until } from '../server/serving.ts'
import { runProgram, startCli } from './run-cli.ts'

const AT = '2099-02-28T14:16:00.000Z'

interface Shell {
  /** What a command line prints on stdout; words are parted by spaces. */
  run(line: string): Promise<string>
  /** Both streams. */
  print(line: string): ReturnType<typeof runProgram>
  env: Record<string, string>
}

function shellOf(url: string): Shell {
  const env = { HEADRACE_SERVER: url }
  const print = (line: string): ReturnType<typeof runProgram> => runProgram(line.split(' '), { env })
  return { env, print, run: async (line) => (await print(line)).stdout }
}

/** A shell on a server whose worker gives up all of the pool `vms`. */
async function openDead(t: TestContext, keys: string[]): Promise<Shell> {
  const { race, url } = await serve(t)
  const pool = race.pool('vms')
  const handler = ({ key }: { key: string }): ReturnType<typeof dead> => {
    if (key === 'x') return dead('unknown customer')
    throw new TypeError(`no route to ${key}`)
  }
  race.work(pool, handler, { retry: { attempts: 1 } })
  await pool.putAll(keys.map((key) => ({ key })))
  await until(async () => (await pool.count()).dead === keys.length, 'deaths')
  return shellOf(url)
}

test('pool make and list show the pools, and with --json what the server answers', async (t) => {
  const { run } = shellOf((await serve(t)).url)
  const made = await run('pool make vms --partitions 8 --dead-for 90d')
  assert.equal(made, 'pool  mode  partitions  dead for\nvms   one            8       90d\n')
  const listed = [
    'pool   mode  partitions  dead for',
    'ticks  each           4       30d',
    'vms    one            8       90d',
  ]
  assert.equal(await run('pool list'), `${listed.join('\n')}\n`)
  const { items } = JSON.parse(await run('pool list --json')) as { items: unknown[] }
  const plain = { fansOut: false, throttleMs: 0, payloads: 'latest' }
  const none = { concurrency: null, rate: null }
  const controlled = { paused: null, limits: { group: none, pool: none } }
  const times = { rememberMs: 0, deadForMs: 7_776_000_000 }
  const vms = { name: 'vms', mode: 'one', partitions: 8, ...times, ...plain, ...controlled }
  assert.deepEqual(items[1], vms)
  const flags = '--fans-out --throttle 2s --payloads all'
  const { fansOut, throttleMs, payloads } = JSON.parse(
    await run(`pool make syncs ${flags} --json`),
  ) as typeof vms
  assert.deepEqual([fansOut, throttleMs, payloads], [true, 2000, 'all'])
  const put = 'pool put vms vm-1 --at 2099-01-01T00:00:00Z --on-conflict replace --longest-wait 10m --json'
  const { dueAt } = JSON.parse(await run(put)) as { dueAt: string }
  assert.ok(Date.parse(dueAt) - Date.now() < 660_000, dueAt)
})

test('pool put, get and cancel act on a key', async (t) => {
  const { run, print } = shellOf((await serve(t)).url)
  await run('pool make vms')
  assert.equal(
    await run(`pool put vms vm-17 --at ${AT} --payload {"n":1}`),
    `created  vm-17  ${AT}  tally 1\n`,
  )
  const again = JSON.parse(await run(`pool put vms vm-17 --at ${AT} --json`)) as unknown
  assert.deepEqual(again, { key: 'vm-17', at: null, dueAt: AT, tally: 2, result: 'merged' })
  const [head, row] = (await run('pool list vms')).split('\n')
  assert.match(head ?? '', /^key +due at +state +tally +attempt +lane +partition +payload$/)
  assert.match(row ?? '', /^vm-17 +2099\S+ +waiting +2 +0 +normal +\d+ +\{"n":1\}$/)
  assert.equal(await run('pool cancel vms vm-17'), 'cancelled  vm-17  1\n')
  await run('pool put vms now')
  const { stderr } = await print('pool cancel vms now')
  assert.equal(stderr, '1 of them due already: may be under way\n')
})

test('pool list POOL lists entries by pages, and a pool of mode each shows their times', async (t) => {
  const { run, print } = shellOf((await serve(t)).url)
  await run('pool make reports --mode each')
  for (const at of [AT, '2099-03-01T00:00:00.000Z']) await run(`pool put reports r --at ${at}`)
  const { stdout, stderr } = await print('pool list reports --limit 1 --state waiting')
  assert.match(stdout, /^key +at +due at .*\nr +2099-02-28\S+ +2099-02-28[^\n]*\n$/)
  const after = /^1 shown; next: --after (\S+)\n$/.exec(stderr)?.[1] ?? ''
  assert.match(await run(`pool list reports --after ${after}`), /\nr +2099-03-01[^\n]*\n$/)
  assert.match(await run('pool get reports r'), /\nr +2099-02-28[^\n]*\nr +2099-03-01[^\n]*\n$/)
  assert.match(await run(`pool get reports r --at ${AT}`), /^key +r\nat +2099-02-28\S+\nstate +waiting\n/)
  assert.equal(await run('pool cancel reports r'), 'cancelled  r  2\n')
  assert.equal(await run('pool list reports'), 'no entries\n')
})

test('pool dead lists what was given up, and --kinds what it died of', async (t) => {
  const { run, print } = await openDead(t, ['vm-1', 'vm-2', 'x'])
  const listed = await run('pool dead vms x')
  assert.match(
    listed,
    /^key +died at +tally +state +kind +reason +error\nx +2\S+Z +1 +dead +[0-9a-f]{12} +unknown customer +-\n$/,
  )
  const [head, first, second] = (await run('pool dead vms --kinds')).split('\n')
  assert.match(head ?? '', /^kind +count +first +last +reason +error +keys$/)
  assert.match(
    first ?? '',
    /^[0-9a-f]{12} +2 +2\S+Z +2\S+Z +attempts +TypeError: no route to vm-# +vm-\d, vm-\d$/,
  )
  assert.match(second ?? '', / 1 .* unknown customer +- +x$/)
  const page = JSON.parse(await run('pool dead vms --error route --json')) as { items: { key: string }[] }
  assert.deepEqual(page.items.map(({ key }) => key).toSorted(), ['vm-1', 'vm-2'])
  assert.equal(await run('pool dead vms --reason no'), 'none\n')
  const largest = await print('pool dead vms --kinds --limit 1')
  assert.match(largest.stdout, /^[^\n]+\n[0-9a-f]{12} +2 [^\n]+\n$/)
  assert.equal(largest.stderr, 'the largest 1 of 2; all: leave --limit out\n')
})

test('pool redrive and remove say how many, and want to be told which', async (t) => {
  const { run } = await openDead(t, ['vm-1', 'vm-2', 'x'])
  assert.equal(await run('pool redrive vms x'), 'redriven  1\n')
  assert.deepEqual(JSON.parse(await run('pool redrive vms nobody --json')), { redriven: 0 })
  assert.equal(await run('pool remove vms --error vm-1'), 'removed  1 records, 1 dead entries\n')
  for (const line of ['pool redrive vms', 'pool remove vms', 'pool remove vms x --all']) {
    await assert.rejects(run(line), { code: 'invalid_options' }, line)
  }
  const removed = JSON.parse(await run('pool remove vms vm-2 --json')) as unknown
  assert.deepEqual(removed, { deaths: 1, entries: 1 })
})

test('exit codes of pool: 4 for what is not there, 5 for a conflict, 2 for wrong usage', async (t) => {
  const { env, run } = shellOf((await serve(t)).url)
  await run('pool make vms')
  const code = async (line: string): Promise<number | null> =>
    (await startCli(line.split(' '), { env }).exited).code
  assert.deepEqual(await Promise.all([code('pool get vms nope'), code('pool list vm')]), [4, 4])
  assert.deepEqual(await Promise.all([code('pool make vms --mode each'), code('pool redrive vms')]), [5, 2])
  const { stderr } = await startCli(['pool', 'cancel', 'vms', 'nope'], { env }).exited
  assert.match(stderr, /^error\[entry_unknown\] {2}the key "nope" has no entry\n/)
  assert.match(
    stderr,
    /try +it may be done, and what is done is gone; what there is: headrace pool list POOL\n$/,
  )
})
