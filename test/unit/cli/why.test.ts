import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, until } from '../server/serving.ts'
import { runProgram } from './run-cli.ts'

const LATER = '2030-01-01T00:00:00.000Z'

test('[I8] why tells the reason, its evidence, the owner and what to do, and with --json the document', async (t) => {
  const { race, url } = await serve(t, { race: { name: 'm1', drainWithin: 0 } })
  const { promise, resolve } = Promise.withResolvers<void>()
  const pool = race.pool('vms')
  race.work(pool, () => promise, { timeout: '20ms' })
  await pool.put('deaf')
  const args = ['why', 'deaf', '--pool', 'vms', '--server', url]
  const read = async (): Promise<{ reason: string | null }> =>
    JSON.parse((await runProgram([...args, '--json'])).stdout) as { reason: string | null }
  await until(async () => (await read()).reason === 'waiting_key', 'the reason')
  const { stdout } = await runProgram(args)
  assert.match(stdout, /^vms {2}deaf {3}due {3}due for \S+\n\n/)
  assert.match(stdout, /\n {2}reason +waiting_key {3}a run of this key was aborted \(timeout\)/)
  assert.match(stdout, /\n {2}aborted +timeout\n/)
  assert.match(stdout, /\n {2}partition +\d, owned by m1\n {2}next +have the handler heed ctx\.signal/)
  resolve()
})

test('[I8] why finds a tick by its time', async (t) => {
  const { ticks, url } = await serve(t)
  await ticks.pool.put('bill', { at: LATER })
  const { stdout } = await runProgram(['why', 'bill', '--at', LATER, '--server', url])
  assert.match(stdout, /^ticks {2}bill {3}waiting {3}due in \d+d/)
  assert.match(stdout, /\n {2}reason +not_due {3}it is not due yet\n {2}due at +2030-01-01T00:00:00\.000Z\n/)
})

test('[I8] why names the reason of a pause apart from its own, and where it looked in words', async (t) => {
  const { race, url } = await serve(t, { race: { name: 'm1' } })
  const pool = race.pool('vms')
  await pool.pause({ by: 'ann', reason: 'deploy' })
  await pool.put('vm-5')
  const paused = (await runProgram(['why', 'vm-5', '--pool', 'vms', '--server', url])).stdout
  assert.match(paused, /\n {2}reason +paused {3}its pool is paused by ann: deploy\n {2}by +ann\n/)
  assert.match(paused, /\n {2}pause reason +deploy\n/)
  assert.equal(paused.match(/^ {2}reason /gm)?.length, 1)
  const { stdout } = await runProgram(['why', 'none', '--server', url])
  assert.match(stdout, /\n {2}looked in +ticks, vms$/m)
})

test('[I10] status begins with the verdict', async (t) => {
  const { url } = await serve(t)
  const { stdout } = await runProgram(['status', '--server', url])
  assert.match(stdout, /^Idle: nothing that this member works on is due\n\nheadrace /)
})
