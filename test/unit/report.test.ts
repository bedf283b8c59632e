// What a race reports of itself: lines on stderr, or calls of a logger.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { HeadraceError } from '../../src/errors.ts'
import { headrace } from '../../src/headrace.ts'
import { type LogLevel, type Logger, startReport } from '../../src/report.ts'
import { openMemoryStore } from '../../src/stores/memory/store.ts'
import { noFaults } from '../../src/fault.ts'
import { createTelemetry } from '../../src/telemetry.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

function listen(log: LogLevel | Logger = 'warn') {
  const lines: string[] = []
  const telemetry = createTelemetry(systemClock.id())
  const clock = new VirtualClock()
  const stop = startReport({ telemetry, clock, log, print: (line) => void lines.push(line) })
  return { lines, telemetry, clock, stop }
}

const full = new HeadraceError('store_full', 'there is no room left for a.db', { remedy: 'free some' })
const failed = {
  pool: 'mails',
  key: 'a',
  attempt: 2,
  error: new Error('no'),
  isDead: false,
  reason: null,
  retryInMs: 4000,
}

test('a race in library mode reports a handler that throws, and a death, by default', async () => {
  const lines: string[] = []
  const race = await headrace({ store: 'memory:', partitions: 1 }, { print: (line) => void lines.push(line) })
  const ended = Promise.withResolvers<void>()
  race.telemetry.on('run.failed', ({ isDead }) => isDead && ended.resolve())
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:25')
  const handler = (): never => {
    throw new TypeError('fetch failed', { cause })
  }
  race.work(race.pool('mails'), handler, { retry: { attempts: 2, first: '10ms' } })
  await race.start()
  await race.pool('mails').put('ann', { payload: { password: 'in the payload' } })
  await ended.promise
  await race.stop()
  const reason = 'TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:25'
  const [first = '', second] = lines.filter((line) => line.includes('the run of'))
  const [before = ''] = first.split('; next try in ')
  assert.equal(before, `the run of "ann" in the pool mails failed at attempt 1: ${reason}`)
  assert.equal(
    second,
    `the run of "ann" in the pool mails failed at attempt 2: ${reason}; dead, see: headrace pool dead mails`,
  )
  assert.doesNotMatch(lines.join(), /in the payload/)
})

test('a store that does not answer for seconds is reported, with the doubt, and again when it is back', async () => {
  const lines: string[] = []
  const clock = new VirtualClock()
  const memory = openMemoryStore({ clock, telemetry: createTelemetry('store'), faults: noFaults })
  const away = { isAway: false }
  const pulse: typeof memory.pulse = (request) =>
    away.isAway ? Promise.reject(new Error('connect ECONNREFUSED')) : memory.pulse(request)
  const print = (line: string): void => void lines.push(line)
  const race = await headrace({ store: 'memory:' }, { clock, store: { ...memory, pulse }, print })
  race.ticks()
  const starting = race.start()
  await clock.advance(2000)
  await starting
  assert.deepEqual(lines, [])
  away.isAway = true
  await clock.advance(7000)
  assert.match(lines[0] ?? '', /^the store has not answered for 2\.\d s: connect ECONNREFUSED; trying again$/)
  assert.match(lines[1] ?? '', /^the roster has not answered for so long/)
  assert.equal(lines.length, 2)
  away.isAway = false
  await clock.advance(1000)
  assert.match(lines[2] ?? '', /^the store answers again, after 7\.\d s$/)
  assert.match(lines[3] ?? '', /^the roster answers again/)
  const stopping = race.stop()
  await clock.advance(5000)
  await stopping
})

test('a race says why ticks cannot move, and what to do', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('ticks.failed', { pool: 'ticks', error: full, retryInMs: 50 })
  assert.deepEqual(lines, [
    'due ticks of the pool ticks wait: there is no room left for a.db (free some); trying again',
  ])
  stop()
})

test('a race says when it has given ticks up', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('ticks.failed', { pool: 'ticks', error: full, retryInMs: null })
  assert.match(lines.join(), /; they do not move before a restart$/)
  stop()
})

test('a defect behind an answer 500 is reported with its stack', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('http.failed', { route: '/ticks', method: 'POST', error: new Error('a defect') })
  assert.match(lines.join('\n'), /^POST \/ticks met a defect of Headrace: Error: a defect\n +at /)
  stop()
})

test('of many failures in a second one line is written, and another at its end that counts the others', async () => {
  const { lines, telemetry, clock, stop } = listen()
  for (let times = 0; times < 1000; times += 1) telemetry.emit('run.failed', failed)
  assert.equal(lines.length, 1)
  await clock.advance(1000)
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /; next try in 4\.0 s \(and 998 more like it\)$/)
  telemetry.emit('run.failed', failed)
  assert.equal(lines.length, 2)
  stop()
  assert.equal(lines.length, 3)
  telemetry.emit('run.failed', failed)
  assert.equal(lines.length, 3)
})

test('a race says that it lost its work, and why steps in the roster fail, in one line each', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('roster.lost', { id: 'a' })
  telemetry.emit('roster.failed', { error: new Error('connection\n  refused') })
  assert.deepEqual(lines, [
    'the others have taken the work of this member (a), and it joins again; it was silent for a lease: did this ' +
      'process or its machine stand still, or the store?',
    'a step in the roster failed: connection refused; trying again',
  ])
  stop()
})

test('a store that went back to an earlier state is a line, with what that means', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('store.went-back', { from: '3-a', to: '4-b' })
  assert.deepEqual(lines, [
    'the store went back to an earlier state: what was answered since then is gone, and this member drops its runs and joins again',
  ])
  stop()
})

for (const secret of ['postgres://me:s3/cr@t@db/app', 'redis://:s3cr@t@h', 'http://u:s3cr%40t@x/path']) {
  test(`no line holds the password of ${secret}`, () => {
    const { lines, telemetry, stop } = listen()
    telemetry.emit('run.failed', { ...failed, error: new Error(`cannot reach ${secret} today`) })
    telemetry.emit('store.lost', { error: new Error('lost', { cause: secret }) })
    telemetry.emit('store.failed', {
      error: new HeadraceError('store_failed', 'x', { remedy: `see\n${secret}` }),
    })
    assert.equal(lines.length, 3)
    assert.doesNotMatch(lines.join(), /s3|\n/)
    stop()
  })
}

test('what a handler throws is cut, and written in one line, whatever it is', async () => {
  const { lines, telemetry, clock, stop } = listen()
  const thrown = [
    'x'.repeat(1_000_000),
    Object.create(null),
    undefined,
    new Error('a\n\u001B[31mb'),
    Symbol('s'),
  ]
  for (const error of thrown) {
    telemetry.emit('run.failed', { ...failed, key: 'k\n'.repeat(500), error })
    await clock.advance(1000)
  }
  assert.equal(lines.length, thrown.length)
  for (const line of lines) assert.match(line, /^[^\p{Cc}]{1,1100}$/u)
  stop()
})

test('silent writes nothing, and info writes also what is no trouble', () => {
  const events: [LogLevel, number][] = [
    ['silent', 0],
    ['warn', 1],
    ['info', 2],
  ]
  for (const [level, count] of events) {
    const { lines, telemetry, stop } = listen(level)
    telemetry.emit('roster.joined', { id: 'a' })
    telemetry.emit('run.failed', failed)
    assert.equal(lines.length, count)
    stop()
  }
})

test('a logger gets fields and a message by level, and may throw', () => {
  const calls: unknown[] = []
  const logger: Logger = {
    info: ({ event }, message) => calls.push(['info', event, message]),
    warn: ({ event, key, attempt, retryInMs, error }) => {
      calls.push(['warn', event, key, attempt, retryInMs, error])
      throw new Error('the disk of the log is full')
    },
    error: ({ event, isDead }) => calls.push(['error', event, isDead]),
  }
  const { lines, telemetry, stop } = listen(logger)
  telemetry.emit('roster.joined', { id: 'a' })
  telemetry.emit('run.failed', failed)
  telemetry.emit('run.failed', { ...failed, isDead: true, retryInMs: null })
  assert.deepEqual(calls, [
    ['info', 'roster.joined', 'joined the roster as a'],
    ['warn', 'run.failed', 'a', 2, 4000, 'no'],
    ['error', 'run.dead', true],
  ])
  assert.deepEqual(lines, [])
  stop()
})

test('a log that is no level and no logger is refused with what it may be', async () => {
  for (const log of ['loud', { warn: () => undefined }, 3]) {
    await assert.rejects(headrace({ store: 'memory:', log: log as unknown as Logger }), {
      code: 'invalid_options',
      message: /the option log/,
      remedy: /silent or warn or info/,
    })
  }
})

test('the reason of a death, a refused token, a request that was not served and a replaced payload are a line each', () => {
  const { lines, telemetry, stop } = listen()
  telemetry.emit('run.failed', {
    ...failed,
    error: null,
    isDead: true,
    reason: 'the endpoint\nis gone',
    retryInMs: null,
  })
  telemetry.emit('http.unauthorized', { why: 'wrong', from: '192.0.2.7' })
  telemetry.emit('http.unserved', { route: '/v1/pools', method: 'GET', error: full })
  telemetry.emit('pool.payload-replaced', { pool: 'mails', key: 'send' })
  assert.deepEqual(lines, [
    'the run of "a" in the pool mails failed at attempt 2: the endpoint is gone; dead, see: headrace pool dead mails',
    'refused a request from 192.0.2.7: its token is wrong',
    'GET /v1/pools was not served: there is no room left for a.db (free some)',
    'a put of the key "send" in the pool mails replaced the payload of another that waited: puts of one key are one run; ' +
      "for a run each use pool.add(payload), or payloads: 'all'",
  ])
  stop()
})
