// npm run simulate: a run that never ends is told, and is no run that broke nothing.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../../..')
const script = join(root, 'scripts/simulate.ts')
const clock = pathToFileURL(join(root, 'src/testing/virtual-clock.ts')).href

/** Time that stands still from the second run of a thread on, so that what waits for it waits for ever. */
const STOPS = `
import { VirtualClock } from '${clock}'
const { advance } = VirtualClock.prototype
let first = null
VirtualClock.prototype.advance = function (ms) {
  first ??= this
  return this === first ? advance.call(this, ms) : new Promise(() => undefined)
}`

function simulate(runs: number, ...nodeFlags: string[]): ReturnType<typeof spawnSync> {
  const args = [...nodeFlags, script, '--runs', String(runs)]
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
}

test('runs that all end and break nothing: it exits with 0', () => {
  const { status, stdout } = simulate(1)
  assert.equal(status, 0)
  assert.match(String(stdout), /^0 of 1 runs broke a promise/m)
})

test('a run that never ends: it says which, and exits with 1', () => {
  const { status, stderr } = simulate(1000, '--import', `data:text/javascript,${encodeURIComponent(STOPS)}`)
  assert.equal(status, 1)
  assert.match(String(stderr), /^seed \d+: the run never ended/m)
  assert.match(String(stderr), /^BROKEN: of 1000 runs \d+ never ended, or never began$/m)
})
