// scripts/run.mjs with real processes: what it passes on, and how it ends.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'

const script = join(import.meta.dirname, '../../../scripts/run.mjs')
const runSync = (...args: string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })

test('it passes arguments on, runs the pinned Node, and prints nothing of its own', () => {
  const { stdout, stderr, status } = runSync('-p', 'process.version + process.argv.slice(1)', 'a b', '--json')
  assert.deepEqual([stdout, stderr, status], [`${process.version}a b,--json\n`, '', 0])
})

test('it exits with the code of the child, or 128 and the number of the signal that killed it', () => {
  assert.equal(runSync('-e', 'process.exit(7)').status, 7)
  assert.equal(runSync('-e', 'process.kill(process.pid, "SIGKILL")').status, 128 + 9)
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`it hands ${signal} to the child once and waits for it to end`, async () => {
    const program = `let n = 0
      process.on('${signal}', () => { n += 1; setTimeout(() => process.exit(40 + n), 50) })
      setInterval(() => undefined, 1000)
      console.log('ready')`
    const child = spawn(process.execPath, [script, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill(signal)
    const [code] = await once(child, 'exit')
    assert.equal(code, 41)
  })
}

test('without a file it says how it is used', () => {
  const { stderr, status } = runSync()
  assert.match(String(stderr), /^usage: node scripts\/run\.mjs FILE/)
  assert.equal(status, 2)
})
