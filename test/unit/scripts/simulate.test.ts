// npm run simulate: which seeds it runs, and that a run that never ends is reported, and counts as broken.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Tally } from '../../../src/lab/simulation/report.ts'

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

interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

function simulate(flags: readonly string[], ...nodeFlags: string[]): Ran {
  return spawnSync(process.execPath, [...nodeFlags, script, ...flags], { cwd: root, encoding: 'utf8' })
}

/** The fields of the document that name the run. */
function tallyOf(flags: readonly string[]): { first: number; operations: number; faults: number[] } {
  const { first, operations, faults } = JSON.parse(simulate([...flags, '--json']).stdout) as Tally
  return { first, operations, faults }
}

test('runs that all end and break nothing: it exits with 0', () => {
  const { status, stdout } = simulate(['--runs', '1', '--from', '1'])
  assert.equal(status, 0)
  assert.match(stdout, /^0 of 1 runs from seed 1 broke a promise/m)
})

test('a run that never ends: it says which, and exits with 1', () => {
  const flags = ['--runs', '1000', '--from', '1']
  const { status, stderr } = simulate(flags, '--import', `data:text/javascript,${encodeURIComponent(STOPS)}`)
  assert.equal(status, 1)
  assert.match(stderr, /^seed \d+: the run never ended/m)
  assert.match(stderr, /^BROKEN: of 1000 runs \d+ never ended, or never began$/m)
})

test('without --from the first seed is drawn at random and reported, and --from repeats the same runs', () => {
  const drawn = simulate(['--runs', '1'])
  const [, first] = /^first seed (\d+), drawn at random/m.exec(drawn.stderr) ?? []
  assert.match(drawn.stderr, new RegExp(`--runs 1 --from ${first}$`, 'm'))
  assert.match(drawn.stdout, new RegExp(`^\\d of 1 runs from seed ${first} broke a promise`, 'm'))
  const other = tallyOf(['--runs', '1'])
  assert.notEqual(other.first, Number(first))
  assert.deepEqual(tallyOf(['--runs', '1', '--from', String(other.first)]), other)
})

test('--help lists the options', () => {
  const { status, stdout } = simulate(['--help'])
  assert.equal(status, 0)
  assert.match(stdout, /--from SEED .*drawn at random/)
})
