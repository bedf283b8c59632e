// A process that works and serves itself, and a `headrace serve` beside it that works on ticks alone, on one SQLite file.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createClient } from '../../src/client/client.ts'
import { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

const WITHIN_MS = 20_000

test('[I12] a server beside a worker process tells what that one runs, and without it whom to ask', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'headrace-served-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'headrace.db')
  const main = join(import.meta.dirname, 'work-and-serve.ts')
  await using worker = await ServerProcess.start({ file, main })
  await using front = await ServerProcess.start({ file, args: ['--name', 'front'] })
  const client = createClient({ server: front.url })
  const vms = client.pools.of('vms')
  await vms.putAll([{ key: 'long' }, { key: 'short' }])
  await until('it runs', async () => (await client.why('long')).state === 'running', WITHIN_MS)
  const { pool, reason, owner, evidence } = await client.why('long')
  assert.deepEqual([pool, reason, owner], ['vms', null, { name: 'worker', address: worker.url }])
  assert.equal(evidence['attempt'], 1)
  await until('the other is done', async () => (await client.why('short')).state === 'absent', WITHIN_MS)
  const metrics = await (await fetch(`${worker.url}/metrics`)).text()
  assert.match(metrics, /^headrace_run_seconds_count\{.*pool="vms".*\} 1$/m)
  assert.match(metrics, /^headrace_running\{pool="vms"\} 1$/m)
  const meter = await createClient({ server: worker.url }).meter()
  assert.deepEqual(
    meter.pools.map((each) => [each.pool, each.running]),
    [['vms', 1]],
  )
  assert.equal((await createClient({ server: worker.url }).status()).ticks?.mode, 'each')
  worker.signal('SIGSTOP')
  const { next } = await client.why('long', { pool: 'vms' })
  assert.equal(next, `ask it: headrace why long --pool vms --server ${worker.url}`)
  worker.signal('SIGCONT')
  assert.equal((await worker.terminate()).code, 0)
})
