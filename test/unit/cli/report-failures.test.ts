import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportFailures } from '../../../src/cli/report-failures.ts'
import { systemClock } from '../../../src/clock.ts'
import { HeadraceError } from '../../../src/errors.ts'
import { createTelemetry } from '../../../src/telemetry.ts'

function listen() {
  const lines: string[] = []
  const telemetry = createTelemetry(systemClock.id())
  const time = { ms: 0 }
  const clock = { ...systemClock, mono: () => time.ms }
  const stop = reportFailures(telemetry, { clock, talk: (line) => void lines.push(line) })
  return { lines, telemetry, time, stop }
}

const full = new HeadraceError('store_full', 'there is no room left for a.db', { remedy: 'free some' })

test('a server says why ticks cannot move, and what to do', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('ticks.failed', { pool: 'ticks', error: full, retryInMs: 50 })
  assert.deepEqual(lines, [
    'due ticks of the pool ticks wait: there is no room left for a.db (free some); trying again',
  ])
  stop()
})

test('a server says when it has given ticks up', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('ticks.failed', { pool: 'ticks', error: full, retryInMs: null })
  assert.match(lines.join(), /; they do not move before a restart$/)
  stop()
})

test('a defect behind an answer 500 is told with its stack', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('http.failed', { route: '/ticks', method: 'POST', error: new Error('a defect') })
  assert.match(lines.join('\n'), /^POST \/ticks met a defect of Headrace: Error: a defect\n +at /)
  stop()
})

test('of many failures in a second one line is told, and the next one counts the others', () => {
  const { lines, telemetry, time, stop } = listen()
  const fail = (): void => telemetry.emit('ticks.failed', { pool: 'ticks', error: full, retryInMs: 50 })
  for (const ms of [0, 10, 999]) {
    time.ms = ms
    fail()
  }
  assert.equal(lines.length, 1)
  time.ms = 1000
  fail()
  assert.match(lines[1] ?? '', /; trying again \(and 2 more like it\)$/)
  stop()
  fail()
  assert.equal(lines.length, 2)
})

test('a server says that it lost its work, and why steps in the roster fail, in one line each', () => {
  const { lines, telemetry, stop } = listen()
  for (const id of ['a', 'b']) telemetry.emit('roster.lost', { id })
  for (const message of ['connection\n  refused', 'again']) {
    telemetry.emit('roster.failed', { error: new Error(message) })
  }
  assert.deepEqual(lines, [
    'the others have taken the work of this member (a), and it joins again; it was silent for a lease: did this ' +
      'process or its machine stand still, or the store?',
    'a step in the roster failed: connection refused; trying again',
  ])
  stop()
})
