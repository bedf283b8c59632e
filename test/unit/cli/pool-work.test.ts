// What the command line shows of work: an entry with its run, the control of pools, and errors in its own words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { again, dead } from '../../../src/pool/answer.ts'
import { fastClock, serve, until } from '../server/serving.ts'
import { runProgram, startCli } from './run-cli.ts'

const run = (url: string, line: string): ReturnType<typeof runProgram> =>
  runProgram(line.split(' '), { env: { HEADRACE_SERVER: url } })

test('pool get shows one entry with its group, when it was put, and the progress of its run', async (t) => {
  const { race, url } = await serve(t, {}, { clock: fastClock(20) })
  const pool = race.pool('vms')
  const end = Promise.withResolvers<void>()
  race.work(pool, async (_, ctx) => {
    ctx.progress({ done: 7 })
    await end.promise
  })
  await pool.put('a', { group: 'g', payload: 1 })
  const shown = async (): Promise<string> => (await run(url, 'pool get vms a')).stdout
  await until(async () => /progress/.test(await shown()), 'progress')
  const text = await shown()
  assert.match(text, /^key +a\nstate +due\ndue at +2\S+Z\ntally +1\nattempt +0\nlane +normal\ngroup +g\n/)
  assert.match(text, /\nput at +2\S+Z\nfirst put +2\S+Z\npayload +1\nprogress +\{"done":7\} {2}2\S+Z\n$/)
  const document = JSON.parse((await run(url, 'pool get vms a --json')).stdout) as Record<string, unknown>
  assert.deepEqual([document['progress'], document['group']], [{ done: 7 }, 'g'])
  end.resolve()
})

test('pool get shows what was put after a run that failed, and that one was given up', async (t) => {
  const { race, url } = await serve(t)
  const pool = race.pool('vms')
  const handler = ({ key }: { key: string }): ReturnType<typeof dead> => {
    if (key === 'x') return dead('unknown')
    throw new Error('busy', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') })
  }
  race.work(pool, handler, { retry: { first: '1h' } })
  await pool.putAll([{ key: 'a', payload: 1 }, { key: 'x' }])
  await until(async () => (await pool.count())['backing-off'] + (await pool.count()).dead === 2, 'failures')
  await pool.put('a', { payload: 2, in: '2h' })
  const { stdout } = await run(url, 'pool get vms a')
  assert.match(
    stdout,
    /\nstate +backing-off\ndue at +2\S+Z\ntally +1\nattempt +1\nlast error +Error: busy; caused by: Error: connect ECONN\S+ \S+\nlane/,
  )
  const why = (await run(url, 'why a --pool vms')).stdout
  assert.match(why, /\n {2}last error +Error: busy; caused by: Error: connect ECONNREFUSED 127.0.0.1:1\n/)
  assert.match(stdout, /\npayload +1\nafter it +due at 2\S+Z {2}tally 1 {2}2\n$/)
  assert.match((await run(url, 'pool get vms x')).stdout, /\nfailing +its last run was given up\n/)
})

test('pool get --follow prints an entry whenever it changes, until it is gone', async (t) => {
  const { race, url } = await serve(t, {}, { clock: fastClock(20) })
  const pool = race.pool('vms')
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let runs = 0
  race.work(pool, async (_, ctx) => {
    runs += 1
    ctx.progress(runs)
    await steps[runs - 1]?.promise
    return runs === 1 ? again({ in: 0 }) : undefined
  })
  await pool.put('a')
  await until(() => runs === 1, 'a run')
  const cli = startCli('pool get vms a --follow'.split(' '), { env: { HEADRACE_SERVER: url } })
  await cli.saw('progress 1')
  steps[0]?.resolve()
  await cli.saw('progress 2')
  steps[1]?.resolve()
  const { stdout, stderr, code } = await cli.exited
  assert.match(stdout, /^due {2}2\S+Z {2}tally 1 {2}attempt 0[^\n]*\n/)
  assert.deepEqual([stderr, code], ['gone: it is done, or was cancelled\n', 0])
})

test('pool get --follow that is interrupted says nothing of the entry, and ends with 130', async (t) => {
  const { race, url } = await serve(t)
  await race.pool('vms').put('a', { in: '1h' })
  const cli = startCli('pool get vms a --follow'.split(' '), { env: { HEADRACE_SERVER: url } })
  await cli.saw('waiting')
  cli.kill('SIGINT')
  const { stderr, code } = await cli.exited
  assert.deepEqual([stderr, code], ['', 130])
})

test('pool get refuses pages of one entry, and to follow many', async (t) => {
  const { url } = await serve(t)
  await run(url, 'pool make vms')
  await run(url, 'pool make reports --mode each')
  for (const line of ['pool get vms a --limit 3', 'pool get reports r --follow']) {
    await assert.rejects(run(url, line), { code: 'invalid_options' }, line)
  }
  await assert.rejects(run(url, 'pool get vms a --follow'), { code: 'entry_unknown' })
})

test('pool list and status show pauses, limits and what else is set of pools', async (t) => {
  const { race, url } = await serve(t)
  race.work(race.pool('vms'), () => undefined, { concurrency: 8 })
  await run(url, 'pool make syncs --throttle 2s --payloads all --fans-out')
  await run(url, 'pool limits vms --rate 50/1s --concurrency 40 --group-concurrency 5')
  await run(url, 'pool pause syncs --by ann')
  const { stdout: listed } = await run(url, 'pool list')
  assert.match(listed, /^pool +mode +partitions +dead for +paused +limits +throttle +fans out +payloads\n/)
  assert.match(listed, /\nsyncs +one +4 +30d +yes by ann since 2\S+Z +2s +yes +all\nticks +each +4 +30d\n/)
  assert.match(listed, /\nvms +one +4 +30d +pool 40 50\/1s, group 5\n$/)
  const { stdout: status } = await run(url, 'status')
  assert.ok(status.includes(listed), status)
  assert.match(status, /\nruns +vms 0 of 8\n/)
  const { pools } = JSON.parse((await run(url, 'status --json')).stdout) as {
    pools: { name: string; paused: { by: string } | null; work: unknown }[]
  }
  assert.deepEqual(
    pools.map(({ name, paused, work }) => [name, paused?.by, work]),
    [
      ['syncs', 'ann', null],
      ['ticks', undefined, null],
      ['vms', undefined, { running: 0, concurrency: 8 }],
    ],
  )
})

test('exit codes of puts: 2 for a time that is missing or a pause that is over, 5 for an entry that is full', async (t) => {
  const { race, url } = await serve(t)
  const end = (line: string): Promise<{ code: number | null; stderr: string }> =>
    startCli(line.split(' '), { env: { HEADRACE_SERVER: url } }).exited
  await run(url, 'pool make reports --mode each')
  await run(url, 'pool make mails --payloads all')
  const full = Array.from({ length: 1000 }, (_, nth) => ({
    key: 'ann',
    at: '2099-01-01T00:00:00Z',
    payload: nth,
  }))
  await race.pool('mails').putAll(full)
  const [missing, past, refused] = await Promise.all([
    end('pool put reports r'),
    end('pool pause mails --until 2020-01-01T00:00:00Z'),
    end('pool put mails ann --payload 1'),
  ])
  assert.deepEqual([missing.code, past.code, refused.code], [2, 2, 5])
  assert.match(missing.stderr, /try +say when, as "at" or "in"; on the command line with --at or --in\n$/)
  assert.match(past.stderr, /^error\[invalid_input\] {2}until is 2020/)
  assert.match(refused.stderr, /^error\[payloads_full\]/)
})
